import type { LevelOccupancy } from '../wheel/tick-index.ts';
import type { LaneQueues, ServedLane } from './served-lane.ts';

/** A lane's queues, and whose it is. */
interface OwnedQueues extends LaneQueues {
  /** The serial of its client; undefined where that is the one that asks. */
  readonly client: number | undefined;
  /** Entries in its wheel: timers, and what cancelled ones have left until their tick comes. */
  readonly filed: number;
}

/** The wheels of lanes of one placement, summed: they run by one clock. */
export interface LaneWheels {
  /** The tick up to which all that was due has been handed over, by the lane that is furthest. */
  now: number;
  /** Empty where no lane is served. */
  readonly levels: LevelOccupancy[];
  readonly queues: OwnedQueues[];
}

/** O(occupied wheel slots): see `TickIndex.levels`. */
export function wheelOf(lane: ServedLane, client?: number): LaneWheels {
  const { index } = lane;
  return { now: index.now, levels: index.levels(), queues: [{ client, filed: index.size, ...lane.queues() }] };
}

/** A slot that is occupied in both counts twice. */
export function addWheel(sum: LaneWheels, { now, levels, queues }: LaneWheels): void {
  for (const [number, level] of sum.levels.entries()) {
    const { arcs, entries, hand, occupied } = levels[number];
    level.occupied += occupied;
    level.entries += entries;
    for (let arc = 0; arc < arcs.length; arc++) level.arcs[arc] += arcs[arc];
    if (now > sum.now) level.hand = hand;
  }
  sum.queues.push(...queues);
  sum.now = Math.max(now, sum.now);
}

/** Of a lane that nobody serves. */
export const NO_WHEEL: LaneWheels = { now: 0, levels: [], queues: [] };
