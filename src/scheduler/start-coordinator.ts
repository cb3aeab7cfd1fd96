import { threadId } from 'node:worker_threads';
import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import { KeepAlive } from '../client/keep-alive.ts';
import { ShardInlineError } from '../errors.ts';
import { AutoShard, type Load, type Serving } from '../hosts/auto-shard.ts';
import { type InlineEvents, InlineShard } from '../hosts/inline-shard.ts';
import { StartQueue } from '../hosts/start-queue.ts';
import { SupervisedShard } from '../hosts/supervised-shard.ts';
import type { SupervisionEvents } from '../hosts/supervision.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateHeartbeat } from '../lane/heartbeat.ts';
import { allocateLane } from '../lane/lane-memory.ts';
import type { LaneSetup, ShardSetup } from '../shard/build-shard.ts';
import { addressOf, type HandleParts, newName } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import { Coordinator, type CoordinatorEvents, type HostedShards } from './coordinator.ts';
import type { ResolvedOptions } from './options.ts';
import { type SharedServer, Sharing } from './sharing.ts';

/** Lays out the shared memory and returns at once: shards are inline until their threads are up. */
export function startCoordinator(
  options: ResolvedOptions,
  layout: TimerIdLayout,
  events: CoordinatorEvents,
): Coordinator {
  const count = Math.max(1, options.shards);
  const name = newName();
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
  const keepAlive = new KeepAlive();
  const scale = new TickScale(options.tick);
  const time = new ClientTime(clock, scale);
  const client = new Client({
    placements: count,
    openLane: (placement) => {
      const { doorbell } = setups[options.isAuto ? 0 : placement];
      return new ClientLane(lanes[placement].memory, layout, placement, new Doorbell(doorbell), time);
    },
    laneCapacity: options.capacity,
    layout,
    time,
    bell: new ClientBell(bellMemory),
    keepAlive,
    events,
    maxBatch: options.maxBatch,
    keepsContexts: options.keepsContexts,
    afterPublish: () => {
      for (const { host } of hosting.hosted) host.afterPublish();
    },
  });
  for (let placement = 0; placement < count; placement++) client.laneAt(placement);
  const hosting = hostShards(options, setups, name, clock, client, events);
  const { hosted, serving, servers } = hosting;
  const companions = (): Sharing => {
    const { shards, isAuto, tick, wheel, capacity, keepsContexts } = options;
    const hosts = setups.map(({ doorbell, heartbeat }) => ({ doorbell, heartbeat }));
    const settings = { shards, isAuto, tick, wheel, capacity, keepsContexts };
    const mayHaveThreads = servers.some(({ notice }) => notice !== undefined);
    const parts: HandleParts = { ownerThread: threadId, clock: clockMemory, hosts, mayHaveThreads, ...settings };
    const sharing = new Sharing(parts, name, servers, client);
    hosting.guestSlots = () => sharing.slots();
    return sharing;
  };
  return new Coordinator({ client, scale, keepAlive, hosted, serving, companions, start: hosting.start });
}

interface Hosting {
  readonly hosted: readonly HostedShards[];
  /** As other threads find them. */
  readonly servers: readonly SharedServer[];
  readonly serving: () => Serving;
  readonly start: () => void;
  /** Slots that clients of other threads have in use. */
  guestSlots: () => number;
}

const nothing = (): void => undefined;
const none = (): number => 0;

function hostShards(
  options: ResolvedOptions,
  setups: readonly ShardSetup[],
  name: string,
  clock: SharedClock,
  client: Client,
  events: CoordinatorEvents,
): Hosting {
  const news = () => client.loop.arm();
  const placements = (at: number) => setups[at].lanes.map((_, lane) => at + lane); // one of the two is 0
  const inlineEvents = (at: number): InlineEvents => ({
    news,
    failed: events.shardFailed,
    restarted: (restart) => {
      hosting.hosted[at].restarts += 1;
      events.restarted(restart);
    },
  });
  const hosting = host();
  return hosting;

  function host(): Hosting {
    const reason = whyInline(options, events);
    if (reason !== undefined) return hostInline(reason);
    const starts = new StartQueue();
    const guestSlots = () => hosting.guestSlots();
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
      const address = addressOf.host(name, at);
      return new SupervisedShard(setup, clock, options, supervision, { starts, address, guestSlots });
    });
    if (options.isAuto) {
      const load = (): Load => ({ now: clock.exact(), size: client.size, work: workOf(client) });
      const host = new AutoShard(shards[0], load, events.servingChanged);
      auto = host;
      const wanted = () => host.keepThread('another event loop has asked for a thread');
      const servers = [{ notice: shards[0].notice, wanted }];
      const hosted = [{ host, placements: placements(0), restarts: 0 }];
      return { hosted, servers, serving: () => host.serving, start: nothing, guestSlots: none };
    }
    const serving: Serving = { by: 'threads', since: 0, reason: `shards: ${options.shards}`, changes: 0 };
    const start = () => {
      for (const shard of shards) shard.startThread();
    };
    const hosted = shards.map((host, at) => ({ host, placements: placements(at), restarts: 0 }));
    const servers = shards.map(({ notice }) => ({ notice, wanted: nothing }));
    return { hosted, servers, serving: () => serving, start, guestSlots: none };
  }

  function hostInline(reason: string): Hosting {
    const serving: Serving = { by: 'inline', since: 0, reason, changes: 0 };
    const hosted = setups.map((setup, at) => {
      const host = new InlineShard(setup, inlineEvents(at), false, { origin: 'nothing' });
      return { host, placements: placements(at), restarts: 0 };
    });
    const servers = setups.map(() => ({ notice: undefined, wanted: nothing }));
    return { hosted, servers, serving: () => serving, start: nothing, guestSlots: none };
  }
}

/** Commands sent and fired records taken so far: what the shards have had to do. */
export const workOf = ({ lanes, delivery }: Client): number =>
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
