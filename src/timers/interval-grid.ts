// Taken once: a program may replace them.
const { floor, max } = Math;

/**
 * What an interval does if calls are overdue, because the event loop was busy when they were due.
 *
 *   due at start + │  1p   2p   3p   4p   5p   6p
 *   the loop       │       ░░░░░░░░░░░░░
 *   skip           │  1                2  5    6       makes the first of the overdue calls and skips the others
 *   burst          │  1                2345    6       makes every call, as soon as possible
 *   delay          │  1                2    3    4     makes one call; the next is due a period after it began
 *
 * With 'skip' and 'burst' calls stay on the grid of start + n × period: there is no drift. 'delay' is what
 * Node's own intervals do.
 */
export type MissedCalls = 'skip' | 'burst' | 'delay';

/** The times at which the calls of an interval are due. @internal */
export class IntervalGrid {
  readonly period: number;
  private readonly missed: MissedCalls;
  private start: number;
  /** The next call is due at start + count × period. */
  private count = 1;

  /** `start` and `period` in ms. */
  constructor(start: number, period: number, missed: MissedCalls) {
    this.start = start;
    this.period = period;
    this.missed = missed;
  }

  /** The deadline of the next call. */
  get deadline(): number {
    return this.start + this.count * this.period;
  }

  /** Advances after a call that began at `begun` and ended at `now`. */
  advance(begun: number, now: number): void {
    if (this.missed === 'delay') {
      this.start = begun;
      return;
    }
    this.count += 1;
    if (this.missed === 'skip') this.count = max(this.count, floor((now - this.start) / this.period) + 1);
  }

  /** Counts from `start` again. */
  restart(start: number): void {
    this.start = start;
    this.count = 1;
  }
}
