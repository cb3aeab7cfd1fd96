import type { CommandStage } from '../lane/command-stage.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import { Heartbeat } from '../lane/heartbeat.ts';
import type { LaneMemory } from '../lane/lane-memory.ts';
import { TableView } from '../lane/table-view.ts';
import { allocateWords, wordsIn } from '../memory/shared-words.ts';
import { SharedClock, type SharedClockMemory } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';
import { CommandJournal } from './command-journal.ts';
import { LocalLane } from './local-lane.ts';
import { RingLane } from './ring-lane.ts';
import type { ServedLane } from './served-lane.ts';
import { Shard } from './shard.ts';

/** A lane and its client's bell, in shared memory. */
export interface LaneSetup {
  readonly memory: LaneMemory;
  readonly clientBell: SharedArrayBuffer;
}

/** All parts of a shard; can be cloned to another thread. */
export interface ShardSetup {
  readonly number: number;
  /** In ms. */
  readonly tick: number;
  readonly wheel: WheelConfig;
  readonly clock: SharedClockMemory;
  readonly doorbell: SharedArrayBuffer;
  readonly heartbeat: SharedArrayBuffer;
  readonly lanes: readonly LaneSetup[];
}

export interface BuiltShard {
  readonly shard: Shard;
  readonly number: number;
  readonly wheel: WheelConfig;
  readonly doorbell: Doorbell;
  readonly heartbeat: Heartbeat;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /** Number of live timers that were indexed from the tables. */
  readonly rescheduled: number;
}

/**
 * What a shard builds a lane's index from: 'nothing' for the first that serves it; the timer table after a death; or the entries
 * that the previous shard has handed over.
 */
export type LaneOrigin = 'nothing' | 'tables' | Int32Array;

/** One origin for all lanes of a shard, or each lane's. */
export type ShardOrigin = 'nothing' | 'tables' | readonly LaneOrigin[];

export const originOf = (origin: ShardOrigin, lane: number): LaneOrigin =>
  typeof origin === 'string' ? origin : origin[lane];

export interface BuildOptions {
  /** For clients in this thread: called with the lane that has news. By default the client's bell wakes its thread. */
  readonly news?: (lane: number) => void;
  /** For clients in this thread: the stages from which each lane's commands are taken. */
  readonly stages?: readonly CommandStage[];
  /** With `stages`: the shard keeps journals, so it can hand its lanes over. */
  readonly isTemporary?: boolean;
}

/** Builds a shard. */
export function buildShard(
  setup: ShardSetup,
  origin: ShardOrigin,
  { news, stages, isTemporary }: BuildOptions = {},
): BuiltShard {
  const clock = new SharedClock(setup.clock);
  const scale = new TickScale(setup.tick);
  const built = {
    shard: new Shard(clock, scale),
    number: setup.number,
    wheel: setup.wheel,
    doorbell: new Doorbell(setup.doorbell),
    heartbeat: new Heartbeat(setup.heartbeat),
    clock,
    scale,
    rescheduled: 0,
  };
  for (const [i, lane] of setup.lanes.entries()) {
    const options = { news: news && (() => news(i)), stage: stages?.[i], isTemporary };
    const served = serveLane(built, lane, originOf(origin, i), options);
    built.rescheduled += served.found;
    built.shard.lanes.push(served.lane);
  }
  return built;
}

/**
 * Builds a lane for the shard to serve, and counts the live timers found by its origin. Only here does a lane meet an engine.
 * Throws AllocationError.
 */
export function serveLane(
  { clock, scale, wheel }: Pick<BuiltShard, 'clock' | 'scale' | 'wheel'>,
  { memory, clientBell }: LaneSetup,
  origin: LaneOrigin,
  { news, stage, isTemporary }: { news?: () => void; stage?: CommandStage; isTemporary?: boolean } = {},
): { lane: ServedLane; found: number } {
  const tick = scale.tickAtOrBefore(clock.refresh());
  const table = new TableView(memory, scale);
  // Starts before everything that is already due, so that it is handed over in the order of its ticks.
  const start = origin === 'nothing' ? 0 : Math.max(0, Math.min(tick, table.earliestDueTick(tick) - 1));
  const { capacity } = memory;
  const words = (count: number) => wordsIn(allocateWords(count));
  const index = createTickIndex(wheel, { capacity, start, reserve: capacity, words });
  const bell = new ClientBell(clientBell, news);
  const journal = isTemporary ? new CommandJournal(table) : undefined;
  const lane =
    stage === undefined
      ? new RingLane(memory, table, index, bell)
      : new LocalLane(memory, table, index, bell, stage, journal);
  if (origin === 'nothing') return { lane, found: 0 };
  return { lane, found: origin === 'tables' ? lane.rebuild(tick) : lane.takeOver(origin, tick) };
}
