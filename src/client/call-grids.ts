import { allocateWords, doublesIn } from '../memory/shared-words.ts';
import { MISSED_CALLS, type MissedCalls, nextCall } from './missed-calls.ts';

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

  /** See `nextCall`. */
  nextCall(slot: number, due: number, begun: number, now: number): number {
    return nextCall(this.missedOf(slot), this.grids[2 * slot], this.grids[2 * slot + 1], due, begun, now);
  }
}
