import { delayUntil, requireCallback, requireDelay, requireTimer } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { Label } from '../client/lane-labels.ts';
import type { TimerId } from '../timer-id.ts';
import { requireOpen } from './internals.ts';
import { type RepeatOptions, requirePeriod, requireRepeatOptions } from './repeat-options.ts';
import { placementIn, remember, type TimerGroup } from './timer-group.ts';

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

/** The timers of a client that are started with one label: the calls behind scheduler, label and group. */
export class TimerView implements TimerStarts {
  readonly #client: Client;
  readonly #label: Label;

  /** @internal */
  constructor(client: Client, label: Label) {
    this.#client = client;
    this.#label = label;
  }

  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'schedule');
    requireTimer(deadline, callback);
    return this.#start(workerHint, deadline, callback, argument);
  }

  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'scheduleAfter');
    requireDelay(delay);
    requireCallback(callback);
    return this.#start(workerHint, this.#client.clock.exact() + delay, callback, argument);
  }

  scheduleAt(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: Date | number,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  scheduleAt<A>(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'scheduleAt');
    return this.scheduleAfter(workerHint, delayUntil(date), callback, argument as A);
  }

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
  scheduleEvery<A>(
    workerHint: WorkerHint,
    period: number,
    callback?: TimerCallback<A>,
    argument?: A,
    options?: RepeatOptions,
  ): TimerId {
    const client = this.#client;
    requireOpen(client, 'scheduleEvery');
    requireCallback(callback);
    requirePeriod(period, client.scale.timeOf(1));
    if (options !== undefined) requireRepeatOptions(options);
    const first = client.clock.exact() + (options?.first ?? period);
    const missed = options?.missedCalls ?? 'skip';
    const label = this.#label;
    if (typeof workerHint !== 'object') {
      return client.startRepeating(label, client.shardOf(workerHint), first, period, missed, callback, argument);
    }
    const placement = placementIn(workerHint, client);
    return remember(workerHint, client.startRepeating(label, placement, first, period, missed, callback, argument));
  }

  #start(workerHint: WorkerHint, deadline: number, callback: unknown, argument: unknown): TimerId {
    const client = this.#client;
    if (typeof workerHint !== 'object') {
      return client.start(this.#label, client.shardOf(workerHint), deadline, callback, argument);
    }
    const placement = placementIn(workerHint, client);
    return remember(workerHint, client.start(this.#label, placement, deadline, callback, argument));
  }
}
