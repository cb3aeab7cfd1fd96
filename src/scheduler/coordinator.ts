import type { ShardInlineError } from '../errors.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateHeartbeat } from '../lane/heartbeat.ts';
import { allocateLane } from '../lane/lane-memory.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import { Client, type ClientEvents } from './client.ts';
import { ClientLane } from './client-lane.ts';
import { ClientTime } from './client-time.ts';
import { InlineShard } from './inline-shard.ts';
import { KeepAlive } from './keep-alive.ts';
import type { ResolvedOptions } from './options.ts';
import type { ShardHost, ShardRestart } from './shard-host.ts';
import type { ShardStats } from './stats.ts';
import { SupervisedShard } from './supervised-shard.ts';

export interface CoordinatorEvents extends ClientEvents {
  restarted(restart: ShardRestart): void;
  wentInline(error: ShardInlineError): void;
}

/**
 * Owns what the scheduler is made of: the clock, the shards and the threads they run on, and the first client, which
 * is the coordinator's own thread. Control calls to shards go through here.
 */
export class Coordinator {
  readonly client: Client;
  readonly scale: TickScale;
  private readonly hosts: readonly ShardHost[];
  private readonly keepAlive: KeepAlive;
  private readonly restarts: number[];

  constructor(parts: {
    client: Client;
    scale: TickScale;
    hosts: readonly ShardHost[];
    keepAlive: KeepAlive;
    restarts: number[];
  }) {
    this.client = parts.client;
    this.scale = parts.scale;
    this.hosts = parts.hosts;
    this.keepAlive = parts.keepAlive;
    this.restarts = parts.restarts;
  }

  async ready(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.ready)));
  }

  /** Holds the process until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T> {
    return this.keepAlive.during(promise);
  }

  /** The least deadline of all live timers, ms; Infinity when there is none. */
  async leastDeadline(): Promise<number> {
    this.client.publish();
    return Math.min(...(await this.during(Promise.all(this.hosts.map((host) => host.call('leastDeadline'))))));
  }

  /** The least time to which the clock can come so that a timer fires; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    const least = await this.leastDeadline();
    if (least === Number.POSITIVE_INFINITY) return undefined;
    const present = this.scale.tickAtOrBefore(this.client.clock.published());
    return this.scale.timeOf(Math.max(this.scale.tickAtOrAfter(least), present + 1));
  }

  /** Empty once the client is closed. */
  async shardStats(): Promise<ShardStats[]> {
    if (this.client.isClosed) return [];
    this.client.publish();
    const counters = await this.during(Promise.all(this.hosts.map((host) => host.call('stats'))));
    return counters.map((counter, shard) => {
      const { size, capacity, retired, highWater: touched } = this.client.lanes[shard].table;
      const inline = this.hosts[shard].isInline;
      return { shard, size, capacity, retired, touched, restarts: this.restarts[shard], inline, ...counter };
    });
  }

  async stop(): Promise<void> {
    await this.during(Promise.all(this.hosts.map((host) => host.stop())));
    this.keepAlive.release();
  }
}

/** Lays out the shared memory, starts the shards, and returns at once: what is scheduled waits in the lanes. */
export function startCoordinator(
  options: ResolvedOptions,
  layout: TimerIdLayout,
  events: CoordinatorEvents,
): Coordinator {
  const count = Math.max(1, options.shards);
  const clockMemory = SharedClock.allocate(options.manual, count);
  const bellMemory = ClientBell.allocate();
  const setups = Array.from(
    { length: count },
    (_, number): ShardSetup => ({
      number,
      tick: options.tick,
      wheel: options.wheel,
      clock: clockMemory,
      doorbell: allocateDoorbell(),
      heartbeat: allocateHeartbeat(),
      lanes: [{ memory: allocateLane(options.capacity), clientBell: bellMemory }],
    }),
  );
  const clock = new SharedClock(clockMemory);
  const bell = new ClientBell(bellMemory, () => client.arm());
  const keepAlive = new KeepAlive();
  const scale = new TickScale(options.tick);
  const time = new ClientTime(clock, scale);
  const client = new Client({
    lanes: setups.map((setup) => {
      return new ClientLane(setup.lanes[0].memory, layout, setup.number, new Doorbell(setup.doorbell), time);
    }),
    time,
    bell,
    keepAlive,
    events,
    maxBatch: options.maxBatch,
  });
  const restarts = setups.map(() => 0);
  const host = (setup: ShardSetup): ShardHost => {
    if (options.shards === 0) return new InlineShard(setup, () => client.arm(), false);
    return new SupervisedShard(setup, clock, options, {
      news: () => client.arm(),
      died: () => {
        clock.setAwake(setup.number, false);
        client.arm(); // it may have raised the client's bell and not lived to post
      },
      restarted: (restart) => {
        restarts[setup.number] += 1;
        events.restarted(restart);
      },
      wentInline: (error) => events.wentInline(error),
    });
  };
  const hosts = setups.map(host);
  client.hosts = hosts;
  return new Coordinator({ client, scale, hosts, keepAlive, restarts });
}
