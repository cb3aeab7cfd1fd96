import type { Client } from '../client/client.ts';
import type { DeliveryEvents } from '../client/delivery-events.ts';
import type { KeepAlive } from '../client/keep-alive.ts';
import { type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import type { ShardFailedError, ShardInlineError } from '../errors.ts';
import type { LaneHost } from '../hosts/lane-host.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { ThreadKeeper } from '../hosts/thread-keeper.ts';
import type { Serving, ThreadPolicy } from '../hosts/thread-policy.ts';
import { OWNER } from '../sharing/board.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { TimerId } from '../timer-id.ts';
import { type ShardWheel, shardWheel } from './shard-wheels.ts';
import type { ClientStats } from './sharing.ts';
import type { KnownOfShard, ShardStats } from './stats.ts';

export interface CoordinatorEvents extends DeliveryEvents {
  restarted(restart: ShardRestart): void;
  wentInline(error: ShardInlineError): void;
  shardFailed(error: ShardFailedError): void;
  servingChanged(serving: Serving): void;
}

/** A host of the client's lanes, with what decides where they are served if that is not settled by the options. */
export interface HostedLanes {
  readonly host: LaneHost;
  readonly policy: ThreadPolicy | undefined;
}

/** The other clients of a scheduler, as seen by the owner and by each client. */
export interface OtherClients {
  /** See `Scheduler.share`. */
  readonly handle: SchedulerHandle;
  /** This client's number among them. */
  readonly number: number;
  /** See `Scheduler.cancelAnywhere`. */
  cancelElsewhere(id: TimerId): Promise<boolean>;
  /** The manual clock has been moved. */
  clockMoved(): void;
  /** Empty if only the owner knows. */
  clientStats(): ClientStats[];
  /** Stops using shared memory. Precondition: this client's hosts have been stopped. */
  close(): void;
}

export interface CoordinatorParts {
  readonly client: Client;
  /** The client's serial among all clients of the scheduler. */
  readonly serial: number;
  readonly scale: TickScale;
  readonly hosted: readonly HostedLanes[];
  /** The threads that this client owns, by host; empty if there are none. */
  readonly keepers: readonly ThreadKeeper[];
  readonly keepAlive: KeepAlive;
  readonly serving: () => Serving;
  /** Starts the threads that serve from the beginning. Until then the scheduler holds nothing but memory. */
  readonly start: () => void;
  /** Set if they exist from the beginning. */
  readonly others?: OtherClients;
  /** Creates them at the first `share()`. */
  readonly share: () => OtherClients;
}

/**
 * Connects a scheduler's client with the hosts of its shards. Control calls to shards go through here. `ownClient` makes
 * the one of an owner, `connectClient` the one of a connected scheduler.
 */
export class Coordinator {
  readonly client: Client;
  readonly scale: TickScale;
  private readonly parts: CoordinatorParts;
  private others: OtherClients | undefined;
  private readonly stopping = new Set<() => void>();

  constructor(parts: CoordinatorParts) {
    this.parts = parts;
    this.client = parts.client;
    this.scale = parts.scale;
    this.others = parts.others;
  }

  start(): void {
    this.parts.start();
  }

  private get hosts(): readonly LaneHost[] {
    return this.parts.hosted.map(({ host }) => host);
  }

  get serving(): Serving {
    return { ...this.parts.serving() };
  }

  async ready(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.ready())));
  }

  /** Holds the process until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.parts.keepAlive.during(promise);
  }

  /** Throws AllocationError. */
  share(): SchedulerHandle {
    this.others ??= this.parts.share();
    return this.others.handle;
  }

  async cancelAnywhere(id: TimerId): Promise<boolean> {
    if (this.client.cancel(id)) return true;
    return this.others === undefined ? false : await this.during(this.others.cancelElsewhere(id));
  }

  clockMoved(): void {
    this.others?.clockMoved();
  }

  /** Returns the earliest time at which a timer fires; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    this.publishAll();
    const earliest = Math.min(
      ...(await this.during(Promise.all(this.hosts.map((host) => host.call('earliestDueTick'))))),
    );
    const next = Math.min(this.scale.timeOf(earliest), this.client.home.nextExpiration());
    if (next === Number.POSITIVE_INFINITY) return undefined;
    const present = this.scale.tickAtOrBefore(this.client.clock.published());
    return Math.max(next, this.scale.timeOf(present + 1));
  }

  /** Empty once the client is closed. */
  async shardStats(): Promise<ShardStats[]> {
    if (this.client.isClosed) return [];
    this.publishAll();
    const stats = this.hosted.map(async (hosted) => {
      const counters = await hosted.host.call('stats');
      const known = this.knownOf(hosted); // read now: a successor may answer
      return counters.map((counter, lane) => ({ ...known[lane], ...counter }));
    });
    return (await this.during(Promise.all(stats))).flat();
  }

  /** The threads that this client owns, by host; empty if there are none. */
  get keepers(): readonly ThreadKeeper[] {
    return this.parts.keepers;
  }

  get hosted(): readonly HostedLanes[] {
    return this.parts.hosted;
  }

  /** Returns what is known of a host's shards without asking it, in the order of its answer. */
  knownOf({ host }: HostedLanes): KnownOfShard[] {
    const { isInline: inline, deaths, restarts } = host;
    return host.lanes.map(({ placement: shard }) => {
      const { size, capacity, retired, highWater } = this.client.laneAt(shard).table;
      return { shard, size, capacity, retired, highWater, deaths, restarts, inline };
    });
  }

  /** Empty once the client is closed. */
  async shardWheels(): Promise<ShardWheel[]> {
    if (this.client.isClosed) return [];
    this.publishAll();
    const wheels = this.hosted.map(async ({ host }) => {
      const lanes = await host.call('wheels');
      return lanes.map((lane, at) => shardWheel(host.lanes[at].placement, lane, this.scale, this.parts.serial));
    });
    return (await this.during(Promise.all(wheels))).flat();
  }

  /** Publishes all commands, so the shards know all timers. */
  publishAll(): void {
    this.client.publish();
  }

  /** See `SchedulerStats.client`. */
  get number(): number {
    return this.others?.number ?? OWNER;
  }

  clientStats(): ClientStats[] {
    return this.others?.clientStats() ?? [];
  }

  /** Calls the listener once when the scheduler is closed. Returns a function that removes the listener. */
  onStop(listener: () => void): () => void {
    this.stopping.add(listener);
    return () => void this.stopping.delete(listener);
  }

  async stop(): Promise<void> {
    for (const listener of this.stopping) listener();
    for (const { policy } of this.hosted) policy?.stop();
    const stopped = Promise.all(this.hosts.map((host) => host.stop())); // these never reject
    await (this.hosts.every(({ isInline }) => isInline) ? stopped : this.during(stopped));
    this.others?.close();
    this.parts.keepAlive.release();
  }
}

/** The arguments of a scheduler's constructor. @internal */
export interface SchedulerParts {
  readonly shards: number;
  readonly capacity: number;
  readonly signal: AbortSignal | undefined;
  readonly coordinator: (events: CoordinatorEvents) => Coordinator;
}

/** Ends a client and what serves it. Resolves with its timers that were not delivered, when all threads have ended. */
export async function shutDown(client: Client, coordinator: Coordinator, shards: number): Promise<UnfiredTimer[]> {
  const unfired = unfiredTimers(client, Math.max(1, shards));
  client.close();
  const stopped = coordinator.stop();
  await undefined; // so that a listener below that calls close() gets the same promise
  try {
    for (const lane of client.lanes) lane.handBack();
    client.home.handBack();
  } finally {
    await stopped;
  }
  return unfired;
}
