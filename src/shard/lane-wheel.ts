import type { LevelOccupancy } from '../wheel/tick-index.ts';
import type { ServedLane, WaitingCounts } from './served-lane.ts';

/** A lane's queues, with the client that owns it. */
interface OwnedQueues extends WaitingCounts {
  /** The serial of its client; undefined if that is the asking client. */
  readonly client: number | undefined;
  /** Entries in its wheel: timers, and entries of cancelled ones until their tick comes. */
  readonly filed: number;
}

/** The sum of the wheels of lanes of one placement. They share a clock. */
export interface LaneWheels {
  /** The tick up to which due timers have been handed over, by the most advanced lane. */
  now: number;
  /** Empty if no lane is served. */
  readonly levels: LevelOccupancy[];
  readonly queues: OwnedQueues[];
}

/** Files what is listed, so that the wheel shows it. O(occupied wheel slots): see `TickIndex.levels`. */
export function wheelOf(lane: ServedLane, client?: number): LaneWheels {
  const { index } = lane;
  lane.fileAll();
  return { now: index.now, levels: index.levels(), queues: [{ client, filed: index.size, ...lane.queues() }] };
}

/** Adds a wheel to a sum. A slot that is occupied in both counts twice. */
export function addWheel(sum: LaneWheels, { now, levels, queues }: LaneWheels): void {
  if (sum.levels.length === 0)
    sum.levels.push(...levels); // it was refused the memory for an index
  else if (levels.length > 0) addLevels(sum, levels, now);
  sum.queues.push(...queues);
  sum.now = Math.max(now, sum.now);
}

function addLevels(sum: LaneWheels, levels: readonly LevelOccupancy[], now: number): void {
  for (const [number, level] of sum.levels.entries()) {
    const { arcs, entries, hand, occupied } = levels[number];
    level.occupied += occupied;
    level.entries += entries;
    for (let arc = 0; arc < arcs.length; arc++) level.arcs[arc] += arcs[arc];
    if (now > sum.now) level.hand = hand;
  }
}
