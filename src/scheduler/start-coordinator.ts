import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import { KeepAlive } from '../client/keep-alive.ts';
import { UnsupportedRuntimeError } from '../errors.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateHeartbeat } from '../lane/heartbeat.ts';
import { allocateLane, DEFAULT_RING_SIZES, INLINE_RING_SIZES } from '../lane/lane-memory.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { threadNumber } from '../runtime.ts';
import type { LaneSetup, ShardSetup } from '../shard/build-shard.ts';
import { type HandleParts, newName } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import { Coordinator, type CoordinatorEvents } from './coordinator.ts';
import { homeIndex } from './home-index.ts';
import { hostShards } from './host-shards.ts';
import type { ResolvedOptions } from './options.ts';
import { OWNER } from './peers.ts';
import { Sharing } from './sharing.ts';

/** Lays out the shared memory and returns at once. Shards are inline until their threads are up. */
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
    memory: allocateLane(options.capacity, options.shards === 0 ? INLINE_RING_SIZES : DEFAULT_RING_SIZES),
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
  time.setSlack(options.slack);
  const client = new Client({
    placements: count,
    openLane: (placement) => {
      const { doorbell } = setups[options.isAuto ? 0 : placement];
      return new ClientLane(lanes[placement].memory, layout, placement, new Doorbell(doorbell), time);
    },
    laneCapacity: options.capacity,
    totalCapacity: options.totalCapacity,
    layout,
    time,
    bell: new ClientBell(bellMemory),
    keepAlive,
    events,
    maxBatch: options.maxBatch,
    keepsContexts: options.keepsContexts,
    afterPublish: () => {
      for (const { host } of hosted) host.afterPublish();
    },
    catchUp: () => {
      for (const { host } of hosted) host.catchUp();
    },
    newHomeIndex: homeIndex(options),
  });
  for (let placement = 0; placement < count; placement++) client.laneAt(placement);
  let sharing: Sharing | undefined;
  const guestSlots = () => sharing?.slots() ?? 0;
  const hosting = hostShards({ options, setups, name, clock, client, events, guestSlots });
  const { hosted, serving, servers, start } = hosting;
  const share = (): Sharing => {
    if (!hasSharedMemory) throw UnsupportedRuntimeError.withoutSharedMemory('scheduler.share()');
    const { shards, isAuto, tick, wheel, capacity, keepsContexts } = options;
    const hosts = setups.map(({ doorbell, heartbeat }) => ({ doorbell, heartbeat }));
    const settings = { shards, isAuto, tick, wheel, capacity, keepsContexts };
    const mayHaveThreads = hosting.mayHaveThreads();
    const parts: HandleParts = { ownerThread: threadNumber(), clock: clockMemory, hosts, mayHaveThreads, ...settings };
    sharing = new Sharing(parts, name, servers, client);
    return sharing;
  };
  return new Coordinator({ client, serial: OWNER, scale, keepAlive, hosted, serving, share, start });
}
