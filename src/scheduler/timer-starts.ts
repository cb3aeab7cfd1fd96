import type { TimerCallback } from '../client/client-lane.ts';
import type { TimerId } from '../timer-id.ts';
import type { RepeatOptions } from './repeat-options.ts';
import type { TimerGroup } from './timer-group.ts';

/**
 * The key that is hashed to a shard: a connection's number, a tenant's name. Or a group, which is such a key and remembers the
 * timers that it is given to.
 */
export type WorkerHint = number | string | TimerGroup;

/** The calls that start timers: of a {@link Scheduler}, and with a label of a {@link TimerLabel}. */
export interface TimerStarts {
  /**
   * Schedules a timer for a deadline, in ms on the clock of `now()`, on the shard to which the hint is hashed. Returns its id.
   * The callback gets the argument and the id; its ticks and microtasks run before the next callback, as with Node's timers.
   * Without a callback the timer is part of a 'fired' batch.
   * @throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError.
   * @cost O(1). No allocation, but for the first timer on a shard, which lays out a lane.
   */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  /**
   * Schedules a timer to fire when at least `delay` ms have passed since this call. Throws like {@link schedule}.
   * @cost As `schedule`, and a reading of the clock.
   */
  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  /**
   * Schedules a timer for a time of the wall clock, a Date or ms since 1970, by that clock's present state: if the clock is set
   * later, the timer does not move. Throws like {@link schedule}.
   * @cost As `scheduleAfter`, and a reading of the wall clock.
   */
  scheduleAt(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: Date | number,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  /**
   * Schedules a timer that repeats until it is cancelled, under one id. Its n-th call is due at start + first + (n − 1) · period,
   * in ms, never early and without drift. In its callback the timer is live and due at its next call; it may be moved, which moves the
   * grid, and cancelled. A callback that throws does not end it. Slack delays a call, not the grid; a label's scale does not
   * change a period. `scheduled` counts the timer once, `delivered` each call.
   * @throws as {@link schedule}; InvalidArgumentError for a period that is not finite or shorter than a tick.
   * @cost As `scheduleAfter`, and 17 bytes per timer. A call costs a delivery and a command, and allocates nothing.
   */
  scheduleEvery(
    workerHint: WorkerHint,
    period: number,
    callback?: TimerCallback<undefined>,
    argument?: undefined,
    options?: RepeatOptions,
  ): TimerId;
  scheduleEvery<A>(
    workerHint: WorkerHint,
    period: number,
    callback: TimerCallback<A> | undefined,
    argument: A,
    options?: RepeatOptions,
  ): TimerId;
}
