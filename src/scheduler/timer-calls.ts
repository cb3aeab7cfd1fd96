import { EventEmitter } from 'node:events';
import { requireCallback, requireDeadline, requireDelay, requireTimer } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { WorkerHint } from '../client/placement.ts';
import { delayUntil } from '../client/wall-clock.ts';
import { InvalidArgumentError } from '../errors.ts';
import { type TimerId, type TimerIdLayout, timerIdLayout } from '../timer-id.ts';
import { type BoundedWaitOptions, type BoundedWork, boundedWait } from './bounded-wait.ts';
import type { Coordinator, CoordinatorEvents } from './coordinator.ts';
import { type DeadlineSignal, type DeadlineSignalOptions, deadlineSignal } from './deadline-signal.ts';
import { hideFields } from './inspection.ts';
import { LabelledTimers, type LabelOptions } from './labelled-timers.ts';
import { cancelMany, scheduleMany } from './many-timers.ts';
import { requireOpen } from './require-open.ts';
import { eventsOf, type SchedulerEvents } from './scheduler-events.ts';
import { SlackTimers } from './slack-timers.ts';
import { TimerGroup } from './timer-group.ts';

/** The parts of a scheduler: for code of this package that starts other kinds of timers, and for tests. @internal */
export interface SchedulerInternals {
  readonly client: Client;
  readonly coordinator: Coordinator;
}

/** The arguments of a scheduler's constructor. @internal */
export interface SchedulerParts {
  readonly shards: number;
  readonly capacity: number;
  readonly signal: AbortSignal | undefined;
  readonly traced: number | undefined;
  readonly coordinator: (events: CoordinatorEvents) => Coordinator;
}

let readInternals: (scheduler: TimerCalls) => SchedulerInternals | undefined;

/** Returns a scheduler's parts. Throws InvalidArgumentError if the argument is not a scheduler. @internal */
export function internalsOf(scheduler: TimerCalls): SchedulerInternals {
  const internals = typeof scheduler === 'object' && scheduler !== null ? readInternals(scheduler) : undefined;
  if (internals === undefined) throw new InvalidArgumentError('scheduler', 'must be a Scheduler', scheduler);
  return internals;
}

/** The calls of a {@link Scheduler} that start, move and end timers. */
export class TimerCalls extends EventEmitter<SchedulerEvents> {
  readonly shards: number;
  /** The layout of timer ids: shard, generation, slot. */
  readonly idLayout: TimerIdLayout;

  readonly #coordinator: Coordinator;
  readonly #client: Client;

  static {
    readInternals = (scheduler) =>
      #client in scheduler ? { client: scheduler.#client, coordinator: scheduler.#coordinator } : undefined;
  }

  /** @internal */
  constructor({ shards, capacity, coordinator }: SchedulerParts) {
    super();
    hideFields(this);
    this.shards = shards;
    this.idLayout = timerIdLayout(shards, capacity);
    this.#coordinator = coordinator(eventsOf(this, shards));
    this.#client = this.#coordinator.client;
  }

  /** Number of live timers: scheduled, neither delivered nor cancelled. */
  get size(): number {
    return this.#client.size;
  }

  /**
   * Returns the time in ms since the scheduler's start. It never falls.
   * @cost One reading of the clock.
   */
  now(): number {
    requireOpen(this.#client, 'now');
    return this.#client.clock.now();
  }

  /**
   * Schedules a timer for a deadline, in ms on the clock of `now()`, on the shard to which the hint is hashed. Returns its id.
   * The callback gets the argument and the id; its ticks and microtasks run before the next callback, as with Node's timers.
   * Without a callback the timer is part of a 'fired' batch.
   * @throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError.
   * @cost O(1). No allocation, but for the first timer on a shard, which lays out a lane.
   */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'schedule');
    requireTimer(deadline, callback);
    const context = callback === undefined ? undefined : this.#client.context();
    return this.#client.start(workerHint, deadline, callback, argument, context);
  }

  /**
   * Schedules a timer to fire when at least `delay` ms have passed since this call. Throws like {@link schedule}.
   * @cost As `schedule`, and a reading of the clock.
   */
  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'scheduleAfter');
    requireDelay(delay);
    requireCallback(callback);
    const deadline = this.#client.clock.exact() + delay;
    const context = callback === undefined ? undefined : this.#client.context();
    return this.#client.start(workerHint, deadline, callback, argument, context);
  }

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
  scheduleAt<A>(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.scheduleAfter(workerHint, delayUntil(date), callback, argument as A);
  }

  /**
   * Schedules one timer for each pair of hint and deadline; all of them, or none if it throws. Writes the ids to `ids`, in the
   * order of the arguments; creates that array if it is not given. Throws like {@link schedule}.
   * @cost O(n), without the checks and the call of each.
   */
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array {
    requireOpen(this.#client, 'scheduleMany');
    return scheduleMany(this.#client, workerHints, deadlines, ids);
  }

  /**
   * Moves a live timer to another deadline; it keeps its id. Returns false if it is not live. Throws InvalidDeadlineError.
   * @cost O(1). To later it is one write to the table; to earlier, one command to the shard as well.
   */
  reschedule(id: TimerId, deadline: number): boolean {
    requireOpen(this.#client, 'reschedule');
    if (typeof deadline !== 'number' || deadline - deadline !== 0) requireDeadline(deadline);
    return this.#client.reschedule(id, deadline);
  }

  /**
   * Moves a live timer to at least `delay` ms from this call; it keeps its id. Throws like {@link reschedule}.
   * @cost As `reschedule`, and a reading of the clock.
   */
  rescheduleAfter(id: TimerId, delay: number): boolean {
    requireOpen(this.#client, 'rescheduleAfter');
    requireDelay(delay);
    return this.#client.reschedule(id, this.#client.clock.exact() + delay);
  }

  /**
   * Cancels a live timer. True means that it will not be delivered, even if its shard has fired it already.
   * @cost O(1). One write to the table; the shard drops its entry later.
   */
  cancel(id: TimerId): boolean {
    requireOpen(this.#client, 'cancel');
    return this.#client.cancel(id);
  }

  /**
   * Cancels all the given timers; returns how many were live.
   * @cost O(n).
   */
  cancelMany(ids: ArrayLike<number>): number {
    requireOpen(this.#client, 'cancelMany');
    return cancelMany(this.#client, ids);
  }

  /**
   * Returns whether the id belongs to a live timer.
   * @cost O(1).
   */
  has(id: TimerId): boolean {
    requireOpen(this.#client, 'has');
    return this.#client.has(id);
  }

  /**
   * Returns the deadline of a live timer in ms; undefined if it is not live.
   * @cost O(1).
   */
  deadlineOf(id: TimerId): number | undefined {
    requireOpen(this.#client, 'deadlineOf');
    return this.#client.deadlineOf(id);
  }

  /**
   * Returns the shard on which timers with this hint are placed.
   * @cost O(1).
   */
  shardOf(workerHint: WorkerHint): number {
    requireOpen(this.#client, 'shardOf');
    return this.#client.shardOf(workerHint);
  }

  /**
   * Returns a group of timers that end together, such as those of a connection: see {@link TimerGroup}. Throws
   * InvalidArgumentError.
   * @cost An object, and a number per live timer of it.
   */
  group(workerHint: WorkerHint): TimerGroup {
    this.shardOf(workerHint);
    return new TimerGroup(this, workerHint);
  }

  /**
   * Returns the calls that start timers, with a label: see {@link LabelledTimers}. With `min` the timers are scaled. A client has
   * at most 254 labels; timers of further ones count as '(other)'. Throws InvalidArgumentError.
   * @cost A byte per timer and shard, once a timer has a label; see docs/labels.md.
   */
  label(name: string, options?: LabelOptions): LabelledTimers {
    requireOpen(this.#client, 'label');
    return new LabelledTimers(this, this.#client, name, options);
  }

  /**
   * Returns the calls that set deadlines, with this slack in ms in place of the scheduler's. Throws InvalidArgumentError.
   * @cost An object; make it once. See docs/sizing.md.
   */
  withSlack(slack: number): SlackTimers {
    requireOpen(this.#client, 'withSlack');
    return new SlackTimers(this, this.#client, slack);
  }

  /**
   * Waits for the promise, or for the function's result, for at most `delay` ms. Rejects with TimeoutError after that, with
   * AbortError if the signal aborts, and with SchedulerClosedError if `close()` comes first. The function gets a signal that
   * aborts in these cases. Leaves no timer and no listener behind.
   * @cost A timer, a promise and, with a signal, one listener for all waits on it.
   */
  timeout<T>(work: BoundedWork<T>, delay: number, options?: BoundedWaitOptions): Promise<T> {
    return boundedWait(this, work, delay, options);
  }

  /**
   * Returns a signal that aborts in `delay` ms, with a TimeoutError. Like that of AbortSignal.timeout, it does not hold the
   * process. If `close()` hands its timer back, it never aborts.
   * @cost A timer and an AbortSignal; until it is disposed or aborts, both are held.
   */
  signalAfter(delay: number, options?: DeadlineSignalOptions): DeadlineSignal {
    requireOpen(this.#client, 'signalAfter');
    return deadlineSignal(this.#client, delay, options);
  }
}
