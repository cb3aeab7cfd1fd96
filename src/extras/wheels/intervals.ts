import { InvalidConfigError, InvalidDeadlineError } from '../../errors.ts';

/** Ticks are safe integers. A clock never reaches the greatest, so a timer filed there waits for ever. */
export const MAX_TICK = Number.MAX_SAFE_INTEGER;

/**
 * Half-open intervals of `precision` from `start`, and the two ways to round a deadline to a tick. All comparisons use
 * startOf(n) as doubles evaluate it: an estimate by division is corrected. So a timer is never early, not even if 0.1 *
 * 3 > 0.3 or if `start` has swallowed the low bits of a time.
 */
export class Intervals {
  readonly start: number;
  readonly precision: number;
  /** The time at which MAX_TICK starts, where `tickAt` ends. */
  readonly end: number;
  /** Whether the time of a whole deadline's due tick equals the deadline and the tick's number. */
  readonly isIdentity: boolean;
  private readonly next: boolean;
  /** Whether ticks are the rounded times, so nothing needs correction. */
  private readonly plain: boolean;

  /** Precondition: both are finite, and the precision is above 0. */
  constructor(start: number, precision: number, rounding: 'up' | 'next') {
    if (start + precision === start || start - precision === start) {
      const requirement = `must be small enough for a tick of ${precision} to make a difference`;
      throw new InvalidConfigError('start', requirement, start);
    }
    this.start = start;
    this.precision = precision;
    this.end = start + MAX_TICK * precision;
    this.next = rounding === 'next';
    this.plain = precision === 1 && start === 0;
    this.isIdentity = this.plain && !this.next;
  }

  startOf(n: number): number {
    return this.start + n * this.precision;
  }

  /** The deadline that need not be kept, since the due tick determines it. */
  deadlineOf(tick: number): number {
    return this.startOf(this.next ? tick - 1 : tick);
  }

  /** The greatest n with startOf(n) <= time; if that is beyond MAX_TICK or -MAX_TICK, some number beyond it. */
  intervalOf(time: number): number {
    if (this.plain) return Math.floor(time);
    let n = Math.floor((time - this.start) / this.precision);
    if (n >= MAX_TICK) {
      if (time >= this.end) return n;
      n = MAX_TICK - 1;
    }
    if (n <= -MAX_TICK) return n;
    // If doubles are coarser than ticks, a few ticks start at one time; more, and the constructor would have refused.
    // Both loops stop at MAX_TICK: beyond it, n + 1 may be n.
    while (n > -MAX_TICK && this.startOf(n) > time) n--;
    while (n < MAX_TICK && this.startOf(n + 1) <= time) n++;
    return n;
  }

  /** The tick at which a deadline is due; at most MAX_TICK. */
  dueTick(deadline: number): number {
    const n = this.next ? this.intervalOf(deadline) + 1 : this.plain ? Math.ceil(deadline) : this.ceilingOf(deadline);
    return Math.min(n, MAX_TICK);
  }

  /** The tick of a clock's time. Throws for an invalid time, and beyond the last tick. */
  tickAt(now: number): number {
    if (!Number.isFinite(now)) throw new InvalidDeadlineError(now, 'must be a finite number', 'time');
    if (now >= this.end) throw new InvalidDeadlineError(now, 'must be less than 2^53 - 1 ticks after start', 'time');
    return this.intervalOf(now);
  }

  private ceilingOf(time: number): number {
    const n = this.intervalOf(time);
    if (!(n < MAX_TICK && n > -MAX_TICK)) return n;
    let earliest = this.startOf(n) < time ? n + 1 : n;
    while (earliest > -MAX_TICK && this.startOf(earliest - 1) >= time) earliest--;
    return earliest;
  }
}
