import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import type { DeliveryEvents } from '../client/delivery-events.ts';
import { LabelScales } from '../client/labels/label-scales.ts';
import { type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import type { ShardFailedError, ShardInlineError } from '../errors.ts';
import { LaneHost } from '../hosts/lane-host.ts';
import type { HostAnswer, HostCall, LaneLink } from '../hosts/lane-link.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { ThreadKeeper } from '../hosts/thread-keeper.ts';
import { type Serving, ThreadPolicy } from '../hosts/thread-policy.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateLane, type RingSizes } from '../lane/lane-memory.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { OWNER } from '../sharing/board.ts';
import type { HandleParts, SchedulerHandle } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { type TimerId, timerIdLayout } from '../timer-id.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { ConnectOptions } from './options.ts';
import type { KnownClient } from './sharing.ts';

export interface CoordinatorEvents extends DeliveryEvents {
  restarted(restart: ShardRestart): void;
  wentInline(error: ShardInlineError): void;
  shardFailed(error: ShardFailedError): void;
  servingChanged(serving: Serving): void;
}

/** What a client is made of, whether it owns the threads or not. */
export interface CoordinatorParts {
  /** What it has in common with all clients of the scheduler. */
  readonly shared: HandleParts;
  readonly options: ConnectOptions;
  readonly events: CoordinatorEvents;
  readonly ringSizes: RingSizes;
  /** Where its latenesses are counted. Default: memory of its own. */
  readonly lateness?: LatenessHistogram;
  /** Whether a policy decides if a thread pays. */
  readonly isJudged: boolean;
}

/**
 * A scheduler's client, and the hosts of its shards: lays out the memory of each lane, and its host, at the lane's first use. Control
 * calls to shards go through here. `ownClient` makes the one of an owner, `connectClient` the one of a connected scheduler.
 */
export abstract class Coordinator {
  readonly client: Client;
  readonly scale: TickScale;
  readonly scales: LabelScales;
  /** In the order of first use. */
  readonly hosts: LaneHost[] = [];
  /** The threads that this client owns, by host; empty if there are none. */
  readonly keepers: ThreadKeeper[] = [];
  /** Set if it decides where the lanes are served; then there is one host. */
  protected policy: ThreadPolicy | undefined;
  protected readonly parts: CoordinatorParts;
  private readonly byNumber: (LaneHost | undefined)[] = [];
  private readonly clientBell = ClientBell.allocate();
  private readonly stopping = new Set<() => void>();
  private isStarted = false;

  constructor(parts: CoordinatorParts) {
    this.parts = parts;
    const { shared, options, events, lateness } = parts;
    const { wheel, capacity } = shared;
    this.scale = new TickScale(shared.tick);
    this.client = new Client({
      placements: Math.max(1, shared.shards),
      openLane: (placement) => this.openLane(placement),
      laneCapacity: capacity,
      layout: timerIdLayout(shared.shards, capacity),
      time: new ClientTime(new SharedClock(shared.clock), this.scale),
      slack: options.slack,
      bell: new ClientBell(this.clientBell),
      events,
      maxBatch: options.maxBatch,
      lateness,
      keepsContexts: shared.keepsContexts,
      ioFirst: options.ioFirst,
      turned: parts.isJudged || this.isWatched ? () => this.turned() : undefined,
      // The engine that its shards have, in its own memory.
      newHomeIndex: (now) => createTickIndex(wheel, { capacity, start: now }),
    });
    this.scales = new LabelScales(this.client);
  }

  /** Called when the first lane of a host is laid out. */
  protected abstract linkTo(setup: ShardSetup): LaneLink;
  /** No thread will serve a host's lanes again. */
  protected abstract stays(number: number): void;
  /** What serves the shards, since when and why. */
  abstract get serving(): Serving;
  /** See `Scheduler.share`. Throws AllocationError. */
  abstract share(): SchedulerHandle;
  /** See `Scheduler.cancelAnywhere`; this client does not have the timer. */
  protected abstract cancelElsewhere(id: TimerId): Promise<boolean>;
  abstract clockMoved(): void;
  /** Stops using shared memory. Precondition: the hosts have been stopped. */
  protected abstract leave(): void;

  /** The policy wants a thread: whether it may be started. */
  protected mayStart(): boolean {
    return true;
  }

  /** Called at the end of each turn. */
  protected turned(): void {
    this.policy?.judge(this.client.time.now);
  }

  /** Whether others see its counts. */
  protected get isWatched(): boolean {
    return false;
  }

  /** See `SchedulerStats.client`. */
  get number(): number {
    return OWNER;
  }

  /** Asks the other clients for their counts, as far as this one reports them. */
  async askForCounts(): Promise<void> {}

  /** Empty if only the owner knows. */
  clients(): KnownClient[] {
    return [];
  }

  /** Starts the threads that serve from the beginning. Until then the scheduler holds nothing but memory. */
  start(): void {
    this.isStarted = true;
    if (this.policy === undefined) for (const host of this.hosts) host.startThread();
  }

  async ready(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.ready())));
  }

  /** Holds the process until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.client.refs.during(promise);
  }

  async cancelAnywhere(id: TimerId): Promise<boolean> {
    return this.client.cancel(id) || (await this.during(this.cancelElsewhere(id)));
  }

  /** Returns the earliest time at which a timer fires; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    const { client, scale } = this;
    let earliest = Number.POSITIVE_INFINITY;
    for (let isHeldBack = true; isHeldBack; ) {
      const asked = this.ask('nextDue', (due) => due);
      isHeldBack = client.lanes.some(({ commands }) => commands.wantsRoom); // behind a full ring
      earliest = Math.min(...(await asked));
    }
    for (const lane of client.lanes) earliest = Math.min(earliest, lane.nextFiredDue());
    const next = Math.min(earliest, client.home.nextDue());
    if (next === Number.POSITIVE_INFINITY) return undefined;
    return scale.timeOf(Math.max(next, scale.tickAtOrBefore(client.clock.read()) + 1));
  }

  /** Asks all shards, which know all timers by then. Resolves with what is made of each host's answer as soon as it comes. */
  private ask<C extends HostCall, T>(name: C, made: (answer: HostAnswer<C>, host: LaneHost) => T): Promise<T[]> {
    this.publishAll();
    return this.during(Promise.all(this.hosts.map(async (host) => made(await host.call(name), host))));
  }

  /** Does the same for answers by lane. Empty if the client is closed, or is closed meanwhile. */
  async collect<C extends 'stats' | 'wheels', T>(
    name: C,
    made: (answer: HostAnswer<C>, host: LaneHost) => T[],
  ): Promise<T[]> {
    if (this.client.isClosed) return [];
    try {
      return (await this.ask(name, made)).flat();
    } catch (error) {
      if (this.client.isClosed) return [];
      throw error;
    }
  }

  /** Publishes all commands, so the shards know all timers. */
  publishAll(): void {
    this.client.publish();
  }

  /** Calls the listener once when the scheduler is closed. Returns a function that removes the listener. */
  onStop(listener: () => void): () => void {
    this.stopping.add(listener);
    return () => void this.stopping.delete(listener);
  }

  /** Ends the client and what serves it. Resolves with its timers that were not delivered, when all threads have ended. */
  async close(): Promise<UnfiredTimer[]> {
    const { client } = this;
    const unfired = unfiredTimers(client, Math.max(1, this.parts.shared.shards));
    client.close();
    const stopped = this.stop();
    await undefined; // so that a listener below that calls close() gets the same promise
    try {
      for (const lane of client.lanes) lane.handBack();
      client.home.handBack();
    } finally {
      await stopped;
    }
    return unfired;
  }

  private async stop(): Promise<void> {
    for (const listener of this.stopping) listener();
    this.policy?.stop();
    const stopped = Promise.all(this.hosts.map((host) => host.stop())); // these never reject
    await (this.hosts.every(({ isInline }) => isInline) ? stopped : this.during(stopped));
    this.leave();
    this.client.refs.release();
  }

  private openLane(placement: number): ClientLane {
    const { shared, ringSizes } = this.parts;
    const number = shared.isAuto ? 0 : placement;
    const setup = { memory: allocateLane(shared.capacity, ringSizes), clientBell: this.clientBell };
    const host = this.byNumber[number] ?? this.newHost(number);
    const layout = timerIdLayout(shared.shards, shared.capacity);
    const lane = new ClientLane(setup.memory, layout, placement, new Doorbell(host.setup.doorbell), this.client.time);
    lane.onMoved = () => host.moved();
    host.open({ placement, setup, stage: lane.stage });
    return lane;
  }

  private newHost(number: number): LaneHost {
    const { client } = this;
    const { shared, events, isJudged } = this.parts;
    const { tick, wheel, clock } = shared;
    const setup: ShardSetup = { number, tick, wheel, clock, doorbell: shared.hosts[number] };
    const host = new LaneHost(setup, this.linkTo(setup), {
      wakeClient: () => client.turnClock.now(),
      serveHere: (shard) => client.turns.serveHere(shard),
      leaveHere: (shard) => client.turns.leaveHere(shard),
      failed: events.shardFailed,
      restarted: events.restarted,
      stays: () => this.stays(number),
    });
    this.byNumber[number] = host;
    this.hosts.push(host);
    if (isJudged) {
      const load = () => loadOf(client);
      this.policy = new ThreadPolicy(host, load, events.servingChanged, () => this.mayStart());
    } else if (this.isStarted) host.startThread();
    return host;
  }
}

/** The load that decides whether a thread pays for a client; its work: commands taken, and fired records. */
function loadOf({ clock, size, lanes, delivery, home }: Client) {
  const fired = delivery.delivered - home.label.delivered + delivery.stale;
  const work = lanes.reduce((sum, lane) => sum + lane.stage.taken, fired);
  return { now: clock.read(), size: size - home.size, work };
}
