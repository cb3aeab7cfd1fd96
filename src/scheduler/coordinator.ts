import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import type { DeliveryEvents } from '../client/delivery.ts';
import { KeepAlive } from '../client/keep-alive.ts';
import { type ShardFailedError, ShardInlineError } from '../errors.ts';
import { AutoShard, type Load, type Serving } from '../hosts/auto-shard.ts';
import { type InlineEvents, InlineShard } from '../hosts/inline-shard.ts';
import type { ShardHost, ShardRestart } from '../hosts/shard-host.ts';
import { StartQueue } from '../hosts/start-queue.ts';
import { SupervisedShard, type SupervisionEvents } from '../hosts/supervised-shard.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateHeartbeat } from '../lane/heartbeat.ts';
import { allocateLane } from '../lane/lane-memory.ts';
import type { LaneSetup, ShardSetup } from '../shard/build-shard.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import type { ResolvedOptions } from './options.ts';
import type { ShardStats } from './stats.ts';

export interface CoordinatorEvents extends DeliveryEvents {
  restarted(restart: ShardRestart): void;
  wentInline(error: ShardInlineError): void;
  shardFailed(error: ShardFailedError): void;
  servingChanged(serving: Serving): void;
}

/**
 * Owns what the scheduler is made of: the clock, the shards and the threads they run on, and the first client, which
 * is the coordinator's own thread. Control calls to shards go through here.
 */
export class Coordinator {
  readonly client: Client;
  readonly scale: TickScale;
  /** Each serves one shard, or one all of them. */
  private readonly hosts: readonly ShardHost[];
  private readonly keepAlive: KeepAlive;
  private readonly restarts: number[];
  private readonly servingNow: () => Serving;
  private readonly startThreads: () => void;

  constructor(parts: {
    client: Client;
    scale: TickScale;
    hosts: readonly ShardHost[];
    keepAlive: KeepAlive;
    restarts: number[];
    serving: () => Serving;
    startThreads: () => void;
  }) {
    this.client = parts.client;
    this.scale = parts.scale;
    this.hosts = parts.hosts;
    this.keepAlive = parts.keepAlive;
    this.restarts = parts.restarts;
    this.servingNow = parts.serving;
    this.startThreads = parts.startThreads;
  }

  /** Starts the threads that are to serve from the beginning. Until then the scheduler holds nothing but memory. */
  start(): void {
    this.startThreads();
  }

  get serving(): Serving {
    return { ...this.servingNow() };
  }

  async ready(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.ready)));
  }

  /** Holds the process until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.keepAlive.during(promise);
  }

  /** The earliest deadline of all live timers, ms; Infinity when there is none. */
  async earliestDeadline(): Promise<number> {
    this.client.publish();
    return Math.min(...(await this.during(Promise.all(this.hosts.map((host) => host.call('earliestDeadline'))))));
  }

  /** The earliest time to which the clock can come so that a timer fires; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    const earliest = await this.earliestDeadline();
    if (earliest === Number.POSITIVE_INFINITY) return undefined;
    const present = this.scale.tickAtOrBefore(this.client.clock.published());
    return this.scale.timeOf(Math.max(this.scale.tickAtOrAfter(earliest), present + 1));
  }

  /** Empty once the client is closed. */
  async shardStats(): Promise<ShardStats[]> {
    if (this.client.isClosed) return [];
    this.client.publish();
    const counters = await this.during(Promise.all(this.hosts.map((host) => host.call('stats'))));
    return counters.flatMap((lanes, at) => {
      const { isInline: inline, deaths } = this.hosts[at];
      return lanes.map((counter, lane) => {
        const shard = at + lane; // one of the two is 0
        const { size, capacity, retired, highWater } = this.client.lanes[shard].table;
        return { shard, size, capacity, retired, highWater, deaths, restarts: this.restarts[at], inline, ...counter };
      });
    });
  }

  async stop(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.stop()))); // none of which rejects
    this.keepAlive.release();
  }
}

/** Lays out the shared memory and returns at once: shards are inline until their threads are up. */
export function startCoordinator(
  options: ResolvedOptions,
  layout: TimerIdLayout,
  events: CoordinatorEvents,
): Coordinator {
  const count = Math.max(1, options.shards);
  const clockMemory = SharedClock.allocate(options.manual);
  const bellMemory = ClientBell.allocate();
  const lanes = Array.from({ length: count }, () => ({
    memory: allocateLane(options.capacity),
    clientBell: bellMemory,
  }));
  const setupOf = (number: number, served: readonly LaneSetup[]): ShardSetup => ({
    number,
    tick: options.tick,
    wheel: options.wheel,
    clock: clockMemory,
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
    lanes: served,
  });
  const setups = options.isAuto ? [setupOf(0, lanes)] : lanes.map((lane, number) => setupOf(number, [lane]));
  const clock = new SharedClock(clockMemory);
  const bell = new ClientBell(bellMemory);
  const keepAlive = new KeepAlive();
  const scale = new TickScale(options.tick);
  const time = new ClientTime(clock, scale);
  const client = new Client({
    lanes: lanes.map(({ memory }, shard) => {
      const { doorbell } = setups[options.isAuto ? 0 : shard];
      return new ClientLane(memory, layout, shard, new Doorbell(doorbell), time);
    }),
    layout,
    time,
    bell,
    keepAlive,
    events,
    maxBatch: options.maxBatch,
    keepsContexts: options.keepsContexts,
    afterPublish: () => {
      for (const host of hosting.hosts) host.afterPublish();
    },
  });
  const hosting = hostShards(options, setups, clock, client, events);
  return new Coordinator({ client, scale, keepAlive, ...hosting });
}

interface Hosting {
  readonly hosts: readonly ShardHost[];
  /** By host. */
  readonly restarts: number[];
  readonly serving: () => Serving;
  readonly startThreads: () => void;
}

function hostShards(
  options: ResolvedOptions,
  setups: readonly ShardSetup[],
  clock: SharedClock,
  client: Client,
  events: CoordinatorEvents,
): Hosting {
  const restarts = setups.map(() => 0);
  const news = () => client.loop.arm();
  const nothing = () => undefined;
  const inlineEvents = (at: number): InlineEvents => ({
    news,
    failed: events.shardFailed,
    restarted: (restart) => {
      restarts[at] += 1;
      events.restarted(restart);
    },
  });
  const reason = whyInline(options, events);
  if (reason !== undefined) {
    const serving: Serving = { by: 'inline', since: 0, reason, changes: 0 };
    const hosts = setups.map((setup, at) => new InlineShard(setup, inlineEvents(at), false, { origin: 'nothing' }));
    return { hosts, restarts, serving: () => serving, startThreads: nothing };
  }
  const starts = new StartQueue();
  let auto: AutoShard | undefined;
  const shards = setups.map((setup, at) => {
    const supervision: SupervisionEvents = {
      ...inlineEvents(at),
      gone: news, // it may have raised the client's bell and not lived to post
      wentInline: (error) => {
        auto?.stayInline(error.message);
        events.wentInline(error);
      },
    };
    return new SupervisedShard(setup, clock, options, supervision, starts);
  });
  if (options.isAuto) {
    const load = (): Load => ({ now: clock.exact(), size: client.size, work: workOf(client) });
    const host = new AutoShard(shards[0], load, (serving) => events.servingChanged(serving));
    auto = host;
    return { hosts: [host], restarts, serving: () => host.serving, startThreads: nothing };
  }
  const serving: Serving = { by: 'threads', since: 0, reason: `shards: ${options.shards}`, changes: 0 };
  const startThreads = () => {
    for (const shard of shards) shard.startThread();
  };
  return { hosts: shards, restarts, serving: () => serving, startThreads };
}

/** Commands sent and fired records taken so far: what the shards have had to do. */
const workOf = ({ lanes, delivery }: Client): number =>
  lanes.reduce((sum, lane) => sum + lane.commands.sent, delivery.delivered + delivery.stale);

/** Why no thread is ever to be started; undefined where some may be. */
function whyInline(options: ResolvedOptions, events: CoordinatorEvents): string | undefined {
  if (options.shards === 0) return 'shards: 0';
  if (options.isAuto && options.manual) return "with clock: 'manual' nothing waits for a busy event loop";
  if (mayStartThreads()) return undefined;
  const error = ShardInlineError.withoutPermission();
  process.nextTick(() => events.wentInline(error)); // when there are listeners
  return error.message;
}

/** Whether Node's permission model, if it is on, lets this process start threads. */
function mayStartThreads(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } };
  return permission === undefined || permission.has('worker');
}
