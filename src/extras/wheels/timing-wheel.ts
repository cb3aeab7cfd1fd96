import type { TimerId } from '../../timer-id.ts';
import type { LevelStats } from '../../wheel/wheel-index.ts';
import type { WheelSnapshot } from '../../wheel/wheel-snapshot.ts';

/**
 * A set of timers in one thread, moved by hand: no clock, no threads, no I/O. The unit of time is the caller's.
 *
 * Time is cut into half-open intervals from `start`, numbered from 0:
 *
 *    start(n) = start + n * precision                 (evaluated in doubles: this is what every line below means)
 *    interval(t) = the greatest n with start(n) <= t
 *    due tick of a deadline d:   rounding 'up'    the least n with start(n) >= d
 *                                rounding 'next'  interval(d) + 1
 *
 * A timer fires in the first `advanceTo(now)` with interval(now) >= its due tick (on a pinned wheel, the due tick
 * rounded up to a tick of its level). A deadline that is not in the future gets the tick after interval(now). So these
 * hold, with p the precision and t the time of the tick at which a timer is handed over:
 *
 *    never early     'up': d <= t        'next': d < t
 *    bounded         'up': t - d < p     'next': t - d <= p      pinned: t - d < precision of the level it was put on
 *    (for deadlines in the future when they were scheduled, up to the rounding of start(n) to a double)
 *
 *    order           by tick of handing over; within one in the order scheduled, a reschedule counts as a new schedule
 *    exactly once    each timer accepted is fired once, or cancelled once, or dropped by `clear`
 *    nextExpiration  the earliest time to which advancing fires a timer, whatever its level; undefined if there is none
 *    size            = scheduled - fired - cancelled - dropped
 *
 * The last tick that a clock reaches is 2^53 - 2: advanceTo refuses start(2^53 - 1) and later. A timer that is due
 * after it is live, can be cancelled, and never fires. A wheel with an upper bound refuses deadlines from start(2^53 -
 * 2).
 *
 * The cost of advancing does not grow with the ticks skipped, only with the occupied slots met. Calls throw only what
 * is stated with them.
 */
export interface TimingWheel<T> extends Iterable<WheelTimer<T>> {
  readonly start: number;
  readonly precision: number;
  /**
   * The time of the last advance. While a handler runs, and after a call that stopped half-way (by its limit, or
   * because a handler threw), the time of the tick being handed over.
   */
  readonly now: number;
  readonly size: number;
  /** First deadline that `schedule` refuses, which grows with `now`; Infinity with an overflow list. */
  readonly upperBound: number;

  /**
   * Schedules a timer; returns its id. If it throws, the wheel is unchanged.
   * @throws InvalidDeadlineError, DeadlineTooFarError, CapacityExceededError.
   * @cost O(1).
   */
  schedule(deadline: number, value: T): TimerId;
  /**
   * Moves a timer; it keeps its id. Returns false if the id is not live. If it throws, the timer does not move.
   * @throws InvalidDeadlineError, DeadlineTooFarError.
   * @cost O(1).
   */
  reschedule(id: TimerId, deadline: number): boolean;
  /**
   * Cancels a timer. Returns whether it was live.
   * @cost O(1).
   */
  cancel(id: TimerId): boolean;
  /**
   * Returns whether the id belongs to a live timer.
   * @cost O(1).
   */
  has(id: TimerId): boolean;
  /**
   * Returns the value of a live timer; undefined if it is not live.
   * @cost O(1).
   */
  get(id: TimerId): T | undefined;
  /**
   * Returns the deadline of a live timer; undefined if it is not live.
   * @cost O(1).
   */
  deadlineOf(id: TimerId): number | undefined;
  /**
   * Advances to `now` and fires due timers, at most `limit`. A time in the past does nothing, whatever is due. The
   * present does nothing either, unless an earlier call stopped half-way at this tick: then it fires the rest. So
   * repeating a call that was cut short continues it. A handler may schedule, cancel and reschedule any timer; its own
   * timer is no longer live. What it schedules is due after the tick being fired, and fires in the same call if it is
   * due by `now`. A handler must not call `advanceTo`: that throws an Error. If it throws, the error leaves
   * `advanceTo`; its timer is gone, the rest is still due.
   * @throws InvalidDeadlineError for a time that is not a finite number or is beyond the last tick;
   * InvalidArgumentError for the handler and the limit.
   * @cost O(levels) per occupied slot met, and O(1) per timer fired or moved to a finer level; nothing per tick
   * skipped.
   */
  advanceTo(now: number, onFire: FireHandler<T>, limit?: number): AdvanceResult;
  /** Returns the earliest time at which a timer fires; undefined if the wheel is empty, or nothing in it ever fires. */
  nextExpiration(): number | undefined;
  /** Drops every timer. `now` stays. */
  clear(): void;
  /**
   * The number of the interval that holds `time`; negative before `start`.
   * @throws InvalidDeadlineError for what is no finite number.
   */
  intervalNumber(time: number): number;
  /** start + n * precision. */
  intervalNumberStart(n: number): number;
  /**
   * The start of the interval that holds `time`.
   * @throws InvalidDeadlineError for what is no finite number.
   */
  intervalStart(time: number): number;
  /** The span of time that each level covers, the finest first. */
  durations(): number[];
  /** Returns what the wheel's levels hold in memory. */
  memoryStats(): WheelMemoryStats;
  /** Everything that `checkInvariants` needs, copied out. */
  snapshot(): WheelSnapshot;
}

export type FireHandler<T> = (value: T, id: TimerId, deadline: number) => void;

export interface WheelTimer<T> {
  id: TimerId;
  deadline: number;
  value: T;
}

export interface AdvanceResult {
  readonly fired: number;
  /** Timers moved to a lower level; always 0 on a pinned wheel. */
  readonly cascaded: number;
  /** False if `limit` left timers that are due by the requested time. */
  readonly complete: boolean;
  readonly nextExpiration: number | undefined;
}

export interface WheelMemoryStats {
  levels: LevelStats[];
  /** Bytes of typed arrays, and 8 for each reference to a value. */
  bytes: number;
}
