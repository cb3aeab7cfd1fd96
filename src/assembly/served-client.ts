import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import type { DeliveryEvents } from '../client/delivery-events.ts';
import { LabelScales } from '../client/labels/label-scales.ts';
import type { ShardFailedError } from '../errors.ts';
import { LaneHost } from '../hosts/lane-host.ts';
import type { LaneLink } from '../hosts/lane-link.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { Serving, ServingRecord } from '../hosts/serving.ts';
import { ThreadPolicy } from '../hosts/thread-policy.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateLane, type RingSizes } from '../lane/lane-memory.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { HandleParts } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { firstGeneration, timerIdLayout } from '../timer-id.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { ConnectOptions } from './options.ts';

export interface ServedEvents extends DeliveryEvents {
  restarted(restart: ShardRestart): void;
  shardFailed(error: ShardFailedError): void;
  servingChanged(serving: Serving): void;
}

/** The threads that may serve a client's lanes: `OwnThreads` for the owner, `OthersThreads` for everybody else. */
export interface ClientThreads {
  /** What serves the shards now. */
  readonly serving: ServingRecord;
  /** Whether a policy decides if a thread pays. Then there is one host. */
  readonly isJudged: boolean;
  /** Called when the first lane of a host is laid out. `slots`: how many the client's lanes to it have used. */
  linkTo(setup: ShardSetup, slots: () => number): LaneLink;
  /** The policy wants a thread: whether it may be started. If not, the link's server is 'clients' by then. */
  mayStart(): boolean;
  /** A host's lanes have moved. `isInline`: whether all lanes are served in the client's thread now. */
  relocated(isInline: boolean): void;
  /** Why no thread serves a host's lanes; undefined if none ever was to. */
  whyNone(host: number): string | undefined;
  /** No thread will serve a host's lanes again. */
  stays(host: number): void;
}

/** What a client is made of, whether it owns the threads or not. */
export interface ServedClientParts {
  /** What it has in common with all clients of the scheduler. */
  readonly shared: HandleParts;
  /** Its number among these, which none has had before. */
  readonly serial: number;
  readonly options: ConnectOptions;
  readonly events: ServedEvents;
  readonly ringSizes: RingSizes;
  readonly threads: ClientThreads;
  /** Where its latenesses are counted. Default: memory of its own. */
  readonly lateness?: LatenessHistogram;
  /** Called at the end of each turn, if others see its counts. */
  readonly turned?: (client: Client) => void;
}

/**
 * A client, and the hosts of its lanes: lays out the memory of each lane, and its host, at the lane's first use.
 *
 *     Client ──▶ ClientLane ──▶ lane memory ◀── LaneHost ──▶ LaneLink ──▶ a thread, if there is one
 */
export class ServedClient {
  readonly client: Client;
  /** Number of placements to which hints are hashed. */
  readonly placements: number;
  readonly scale: TickScale;
  readonly scales: LabelScales;
  /** In the order of first use. */
  readonly hosts: LaneHost[] = [];
  /** Set if it decides where the lanes are served, once there is a host. */
  private policy: ThreadPolicy | undefined;
  private readonly parts: ServedClientParts;
  private readonly byNumber: (LaneHost | undefined)[] = [];
  private readonly clientBell = ClientBell.allocate();
  private isStarted = false;

  constructor(parts: ServedClientParts) {
    this.parts = parts;
    const { shared, options, events, lateness, threads } = parts;
    const { wheel, capacity } = shared;
    this.scale = new TickScale(shared.tick);
    this.placements = Math.max(1, shared.shards);
    this.client = new Client({
      placements: this.placements,
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
      turned: threads.isJudged || parts.turned !== undefined ? () => this.turned() : undefined,
      // The engine that its shards have, in its own memory.
      newHomeIndex: (now) => createTickIndex(wheel, { capacity, start: now }),
    });
    this.scales = new LabelScales(this.client);
  }

  /** Starts the threads that serve from the beginning. Until then it holds nothing but memory. */
  start(): void {
    this.isStarted = true;
    if (!this.parts.threads.isJudged) for (const host of this.hosts) host.startThread();
  }

  /** What serves the shards, since when and why. A copy of the caller's own. */
  get serving(): Serving {
    return this.parts.threads.serving.now();
  }

  /** Whether all lanes are served in this thread, those that have not been laid out as well. */
  get isInline(): boolean {
    return this.hosts.every(({ isInline }) => isInline);
  }

  /** Another client needs a thread: starts one if a policy has not, and keeps it. */
  keepThread(reason: string): void {
    this.policy?.keepThread(reason);
  }

  /** Called when the board may have changed. */
  checkBoard(): void {
    for (const host of this.hosts) host.checkBoard();
  }

  /** Ends what serves the lanes. Resolves when all of its threads have ended; never rejects. */
  async stop(): Promise<void> {
    this.policy?.stop();
    await Promise.all(this.hosts.map((host) => host.stop()));
  }

  private turned(): void {
    const { client, parts, policy } = this;
    if (policy !== undefined) policy.judge(client.time.now);
    if (parts.turned !== undefined) parts.turned(client);
  }

  private openLane(placement: number): ClientLane {
    const { shared, serial, ringSizes } = this.parts;
    const number = shared.isAuto ? 0 : placement;
    const setup = { memory: allocateLane(shared.capacity, ringSizes), clientBell: this.clientBell };
    const host = this.byNumber[number] ?? this.newHost(number);
    const layout = timerIdLayout(shared.shards, shared.capacity);
    const lane = new ClientLane({
      memory: setup.memory,
      layout,
      shard: placement,
      firstGeneration: firstGeneration(shared.idStart, serial, layout),
      doorbell: new Doorbell(host.setup.doorbell),
      time: this.client.time,
    });
    lane.onMoved = () => host.moved();
    host.open({ placement, setup, stage: lane.stage });
    return lane;
  }

  private newHost(number: number): LaneHost {
    const { client, parts } = this;
    const { shared, events, threads } = parts;
    const { tick, wheel, clock } = shared;
    const setup: ShardSetup = { number, tick, wheel, clock, doorbell: shared.doorbells[number] };
    const link = threads.linkTo(setup, () => this.slotsOf(number));
    const host = new LaneHost(setup, link, {
      wakeClient: () => client.turnClock.now(),
      serveHere: (shard) => client.turns.serveHere(shard),
      leaveHere: (shard) => client.turns.leaveHere(shard),
      relocated: () => threads.relocated(this.isInline),
      failed: events.shardFailed,
      restarted: events.restarted,
      stays: () => this.stays(number),
    });
    this.byNumber[number] = host;
    this.hosts.push(host);
    if (threads.isJudged) this.policy = this.newPolicy(host);
    else if (this.isStarted) host.startThread();
    return host;
  }

  private newPolicy(host: LaneHost): ThreadPolicy {
    const { client, parts } = this;
    const { events, threads } = parts;
    return new ThreadPolicy({
      host,
      load: () => loadOf(client),
      serving: threads.serving,
      changed: events.servingChanged,
      mayStart: () => threads.mayStart(),
    });
  }

  private stays(number: number): void {
    const { threads } = this.parts;
    const why = threads.whyNone(number);
    if (why !== undefined) this.policy?.stayInline(why);
    threads.stays(number);
  }

  /** Number of slots that the lanes of a host have used. */
  private slotsOf(number: number): number {
    const lanes = this.byNumber[number]?.lanes ?? [];
    return lanes.reduce((sum, { stage }) => sum + stage.table.highWater, 0);
  }
}

/** The load that decides whether a thread pays for a client; its work: commands taken, and fired records. */
function loadOf({ clock, size, lanes, delivery, home }: Client) {
  const fired = delivery.delivered - home.label.delivered + delivery.stale;
  const work = lanes.reduce((sum, lane) => sum + lane.stage.taken, fired);
  return { now: clock.read(), size: size - home.size, work };
}
