import type { TimerTable } from '../lane/timer-table.ts';
import { allocateSlots, doublesIn, growSlots } from '../memory/shared-words.ts';
import { afterSettling } from './after-settling.ts';

// Taken once: a program may replace them.
const { ceil, max, min, round } = Math;

/**
 * What a repeating timer does if calls are overdue, because the event loop was busy when they were due.
 *
 *   due at start + │  1p   2p   3p   4p   5p   6p
 *   the loop       │       ░░░░░░░░░░░░░
 *   skip           │  1                2       6       makes the first of the overdue calls and skips the others
 *   burst          │  1                2345    6       makes every call, as soon as possible
 *   delay          │  1                2    3    4     makes one call; the next is due a period after it began
 *
 * With 'skip' and 'burst' calls stay on the grid of start + n × period: there is no drift. 'skip' makes no overdue call
 * if it was the timer's own callback that ran so long. It goes on with the grid at its first point that is at least
 * half a period away, so no call follows a late one more closely. 'delay' is what Node's own intervals do.
 */
export type MissedCalls = 'skip' | 'burst' | 'delay';

export const MISSED_CALLS: readonly MissedCalls[] = ['skip', 'burst', 'delay'];

/** More periods than this are not counted one by one: see `CallGrid.renumber`. */
const MAX_COUNTED_PERIODS = 2 ** 51;

/**
 * The calls of one repeating timer, by whole numbers: call n is due at start + n × period, and n rises with every call.
 * Each due time is computed from the start, so errors do not add up. Times in ms.
 */
export class CallGrid {
  start = Number.NaN; // V8: double fields
  period = Number.NaN;
  /** The number of the next call: 0 is that at `start`. */
  call = Number.NaN;

  /** When the next call is due. */
  get due(): number {
    return min(this.timeOf(this.call), Number.MAX_VALUE);
  }

  /**
   * Goes on to the call after one that began at `begun` and ended at `now`, or begins at `now`. It was made in time if
   * it began before `lateFrom`, the end of its due tick: what slack and ticks delay is not late.
   */
  advance(missed: MissedCalls, lateFrom: number, begun: number, now: number): void {
    if (missed === 'delay') {
      this.start = begun;
      this.call = 1;
      return;
    }
    if (this.start < 0) this.renumber(now);
    this.call += 1;
    if (missed === 'burst') return;
    if (begun >= lateFrom || this.due <= begun) this.skipTo(begun + this.period / 2);
    if (this.due <= now) this.skipTo(now + this.period / 2);
  }

  /** Skips the calls that are due before a time. */
  skipTo(time: number): void {
    const { period, start } = this;
    if (this.timeOf(this.call) >= time) return;
    let call = max(this.call, ceil((time - start) / period));
    // An estimate: a point may lie on the other side of the time than its quotient.
    while (call > this.call && this.timeOf(call - 1) >= time) call -= 1;
    while (this.timeOf(call) < time) call += 1;
    this.call = call;
  }

  /**
   * Gives the same points other numbers, for a start before all time: a sum with it may lose fractions, or a number not
   * be whole. The remainder of the start is exact. Where there are too many periods to be counted, the calls due by now
   * count as missed.
   */
  private renumber(now: number): void {
    const { start, period } = this;
    const phase = start % period;
    const periods = (phase - start) / period;
    this.start = phase;
    this.call = periods <= MAX_COUNTED_PERIODS ? this.call - round(periods) : ceil((now - phase) / period) - 1;
  }

  private timeOf(call: number): number {
    return this.start + call * this.period;
  }
}

/** Doubles to a slot, and the words of its byte. */
const DOUBLES = 3;
const BYTE = 1 / 4;
/** The byte of a slot: the place of its `MissedCalls`, and two bits. */
const MISSED = 3;
const NO_OVERLAP = 4;
const PENDING = 8;

/** What `scheduleEvery` was given, times in ms. */
export interface Repetition {
  readonly first: number;
  readonly period: number;
  readonly missedCalls: MissedCalls;
  /** Whether a call is made though the promise that the last one returned is pending. */
  readonly overlap: boolean;
}

/**
 * When the calls of a lane's repeating timers are due, by slot. Created when the lane first has one.
 *
 *     grids    three doubles per slot: start and period, in ms, and the number n of the next call, due at
 *              start + n × period
 *     bytes    a byte per slot: what becomes of overdue calls; whether calls may overlap, and whether one is under way
 *
 * Laid out for the whole capacity; only touched parts are resident. So a repeating timer costs 25 bytes more than
 * another, and its calls allocate nothing. Nothing is cleared when a timer ends: whether a slot repeats is in its
 * payload.
 * @internal
 */
export class CallGrids {
  private grids: Float64Array<SharedArrayBuffer>;
  private bytes: Uint8Array<SharedArrayBuffer>;
  /** The grid of the slot that is being worked on. */
  private readonly grid = new CallGrid();
  private readonly table: TimerTable;
  /** What a pending promise of the program keeps: nothing of the lane, once that is handed back. */
  private readonly kept: { grids: CallGrids | undefined } = { grids: this };

  /** Throws AllocationError. */
  constructor(table: TimerTable) {
    const { capacity } = table;
    this.table = table;
    this.grids = doublesIn(allocateSlots(2 * DOUBLES, capacity));
    const bytes = allocateSlots(BYTE, capacity);
    this.bytes = new Uint8Array(bytes, 0, bytes.byteLength);
  }

  /**
   * Sees to it that there is memory for so many slots, or for all, where that was refused at first. Throws
   * AllocationError.
   */
  reserve(wanted: number): void {
    const { bytes, grids, table } = this;
    const { capacity } = table;
    const slots = min(wanted, capacity);
    if (DOUBLES * slots > grids.length) {
      this.grids = doublesIn(growSlots(grids.buffer, 2 * DOUBLES, capacity, slots));
    }
    if (slots <= bytes.length) return;
    const larger = growSlots(bytes.buffer, BYTE, capacity, slots);
    this.bytes = new Uint8Array(larger, 0, larger.byteLength);
  }

  /** `start`: when the first call is due, in ms. */
  begin(slot: number, start: number, { period, missedCalls, overlap }: Repetition): void {
    this.grids[DOUBLES * slot + 1] = period;
    this.restart(slot, start);
    this.bytes[slot] = MISSED_CALLS.indexOf(missedCalls) | (overlap ? 0 : NO_OVERLAP);
  }

  /** Moves the grid: the next call is due at `start`. */
  restart(slot: number, start: number): void {
    this.grids[DOUBLES * slot] = start;
    this.grids[DOUBLES * slot + 2] = 0;
  }

  /** ms */
  periodOf(slot: number): number {
    return this.grids[DOUBLES * slot + 1];
  }

  missedOf(slot: number): MissedCalls {
    return MISSED_CALLS[this.bytes[slot] & MISSED];
  }

  /** Goes on to the call after one that begins; returns when it is due. Times in ms: see `CallGrid`. */
  advance(slot: number, lateFrom: number, begun: number): number {
    const { grid, grids } = this;
    const at = DOUBLES * slot;
    const start = grids[at];
    const call = grids[at + 2] + 1;
    const next = start + call * grids[at + 1];
    const isInTime = begun < lateFrom && next > begun && next <= Number.MAX_VALUE && start >= 0;
    if (isInTime && this.missedOf(slot) !== 'delay') {
      grids[at + 2] = call; // what `CallGrid` does as well, in fewer calls
      return next;
    }
    this.load(slot);
    grid.advance(this.missedOf(slot), lateFrom, begun, begun);
    this.store(slot);
    return grid.due;
  }

  /** Skips the calls that are missed by now, the end of a call; returns when the next is due. Times in ms. */
  skip(slot: number, now: number): number {
    const { grid } = this;
    this.load(slot);
    grid.skipTo(now + grid.period / 2);
    this.store(slot);
    return grid.due;
  }

  /** Whether the promise that the slot's last call returned is pending, and calls may not overlap. */
  isPending(slot: number): boolean {
    return (this.bytes[slot] & PENDING) !== 0;
  }

  /** Called with what a call has returned, if it is anything. */
  noteReturned(slot: number, returned: unknown): void {
    if ((this.bytes[slot] & NO_OVERLAP) === 0) return;
    const { kept } = this;
    const tag = this.table.tagOf(slot);
    if (afterSettling(returned, () => kept.grids?.settle(slot, tag))) this.bytes[slot] |= PENDING;
  }

  /** Called when the lane is handed back. */
  release(): void {
    this.kept.grids = undefined;
  }

  /** The slot may have another timer by now. */
  private settle(slot: number, tag: number): void {
    if (this.table.tagOf(slot) === tag) this.bytes[slot] &= ~PENDING;
  }

  private load(slot: number): void {
    const { grid, grids } = this;
    grid.start = grids[DOUBLES * slot];
    grid.period = grids[DOUBLES * slot + 1];
    grid.call = grids[DOUBLES * slot + 2];
  }

  private store(slot: number): void {
    const { grid, grids } = this;
    grids[DOUBLES * slot] = grid.start;
    grids[DOUBLES * slot + 2] = grid.call;
  }
}
