import { allocateWords, doublesIn } from '../memory/shared-words.ts';

// Taken once: a program may replace them.
const { floor, max, min, round } = Math;

/**
 * What a repeating timer does if calls are overdue, because the event loop was busy when they were due.
 *
 *   due at start + │  1p   2p   3p   4p   5p   6p
 *   the loop       │       ░░░░░░░░░░░░░
 *   skip           │  1                2  5    6       makes the first of the overdue calls and skips the others
 *   burst          │  1                2345    6       makes every call, as soon as possible
 *   delay          │  1                2    3    4     makes one call; the next is due a period after it began
 *
 * With 'skip' and 'burst' calls stay on the grid of start + n × period: there is no drift. 'delay' is what Node's own intervals do.
 */
export type MissedCalls = 'skip' | 'burst' | 'delay';

export const MISSED_CALLS: readonly MissedCalls[] = ['skip', 'burst', 'delay'];

/**
 * Returns when the call after one that was due at `due` and began at `begun` is due. `now`: when that call ended; what is due by
 * then counts as missed. All in ms. The grid is `start` + n × `period`; each call is computed from its start, so errors do not add up.
 */
export function nextCall(
  missed: MissedCalls,
  start: number,
  period: number,
  due: number,
  begun: number,
  now: number,
): number {
  if (missed === 'delay') return begun + period;
  let count = round((due - start) / period) + 1;
  if (missed === 'skip') count = max(count, floor((now - start) / period) + 1);
  return min(start + count * period, Number.MAX_VALUE);
}

/**
 * When the calls of a lane's repeating timers are due, by slot. Created when the lane first has one.
 *
 *     grids    two doubles per slot: start and period, in ms. The calls are due at start + n × period
 *     missed   a byte per slot: what becomes of overdue calls
 *
 * Laid out for the whole capacity; only touched parts are resident. So a repeating timer costs 17 bytes more than another, and its
 * calls allocate nothing. Nothing is cleared when a timer ends: whether a slot repeats is in its payload.
 */
export class CallGrids {
  private readonly grids: Float64Array;
  private readonly missed: Uint8Array;

  /** Throws AllocationError. */
  constructor(capacity: number) {
    this.grids = doublesIn(allocateWords(4 * capacity));
    this.missed = new Uint8Array(allocateWords(Math.ceil(capacity / 4)), 0, capacity);
  }

  begin(slot: number, start: number, period: number, missed: MissedCalls): void {
    this.grids[2 * slot] = start;
    this.grids[2 * slot + 1] = period;
    this.missed[slot] = MISSED_CALLS.indexOf(missed);
  }

  /** Moves the grid: a call is due at `start`. */
  restart(slot: number, start: number): void {
    this.grids[2 * slot] = start;
  }

  /** ms */
  periodOf(slot: number): number {
    return this.grids[2 * slot + 1];
  }

  missedOf(slot: number): MissedCalls {
    return MISSED_CALLS[this.missed[slot]];
  }

  nextCall(slot: number, due: number, begun: number, now: number): number {
    return nextCall(this.missedOf(slot), this.grids[2 * slot], this.grids[2 * slot + 1], due, begun, now);
  }
}
