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

/** What a scheduler is made of: for those in this package that start timers of another kind, and for tests. */
export interface SchedulerInternals {
  readonly client: Client;
  readonly coordinator: Coordinator;
}

/** What a scheduler is made with. */
export interface SchedulerParts {
  readonly shards: number;
  readonly capacity: number;
  readonly signal: AbortSignal | undefined;
  readonly traced: number | undefined;
  readonly coordinator: (layout: TimerIdLayout, events: CoordinatorEvents) => Coordinator;
}

let readInternals: (scheduler: TimerCalls) => SchedulerInternals | undefined;

/** Throws InvalidArgumentError for what is no scheduler. */
export function internalsOf(scheduler: TimerCalls): SchedulerInternals {
  const internals = typeof scheduler === 'object' && scheduler !== null ? readInternals(scheduler) : undefined;
  if (internals === undefined) throw new InvalidArgumentError('scheduler', 'must be a Scheduler', scheduler);
  return internals;
}

/** The calls of a {@link Scheduler} that timers are made, moved and ended with. */
export class TimerCalls extends EventEmitter<SchedulerEvents> {
  readonly shards: number;
  /** How timer ids are divided: shard, generation, slot. */
  readonly idLayout: TimerIdLayout;

  readonly #coordinator: Coordinator;
  readonly #client: Client;

  static {
    readInternals = (scheduler) =>
      #client in scheduler ? { client: scheduler.#client, coordinator: scheduler.#coordinator } : undefined;
  }

  constructor({ shards, capacity, coordinator }: SchedulerParts) {
    super();
    hideFields(this);
    this.shards = shards;
    this.idLayout = timerIdLayout(shards, capacity);
    this.#coordinator = coordinator(this.idLayout, eventsOf(this, shards));
    this.#client = this.#coordinator.client;
  }

  /** Live timers: scheduled, neither delivered nor cancelled. */
  get size(): number {
    return this.#client.size;
  }

  /** ms since the scheduler's start, never falling. */
  now(): number {
    requireOpen(this.#client, 'now');
    return this.#client.clock.now();
  }

  /**
   * Schedules a timer for a deadline, on the shard that the hint is hashed to. The callback gets the argument and the timer's id;
   * ticks and microtasks that it leaves run before the next callback, as with Node's timers. Without a callback the timer arrives
   * in a 'fired' batch. Throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError.
   */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'schedule');
    requireTimer(deadline, callback);
    const context = callback === undefined ? undefined : this.#client.context();
    return this.#client.start(workerHint, deadline, callback, argument, context);
  }

  /** Schedules a timer to fire when at least `delay` ms have passed since this call. Throws as {@link schedule} does. */
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
   * Schedules a timer for a time of the wall clock, a Date or ms since 1970, as that clock stands at present: when it is set
   * later on, the timer stays where it is. Throws as {@link schedule} does.
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
   * Schedules one timer for each pair of hint and deadline; all or, when an error is thrown, none. The ids are written
   * to `ids` (made where it is not given), in the order of the arguments.
   */
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array {
    requireOpen(this.#client, 'scheduleMany');
    return scheduleMany(this.#client, workerHints, deadlines, ids);
  }

  /** Moves a live timer to another deadline; its id stays. False where it is not live. Throws InvalidDeadlineError. */
  reschedule(id: TimerId, deadline: number): boolean {
    requireOpen(this.#client, 'reschedule');
    if (typeof deadline !== 'number' || deadline - deadline !== 0) requireDeadline(deadline);
    return this.#client.reschedule(id, deadline);
  }

  /** Moves a live timer to at least `delay` ms from this call; its id stays. Throws as {@link reschedule} does. */
  rescheduleAfter(id: TimerId, delay: number): boolean {
    requireOpen(this.#client, 'rescheduleAfter');
    requireDelay(delay);
    return this.#client.reschedule(id, this.#client.clock.exact() + delay);
  }

  /** Ends a live timer. True means that it will not be delivered, even if its shard has fired it already. */
  cancel(id: TimerId): boolean {
    requireOpen(this.#client, 'cancel');
    return this.#client.cancel(id);
  }

  /** Cancels all of the given timers; returns how many were live. */
  cancelMany(ids: ArrayLike<number>): number {
    requireOpen(this.#client, 'cancelMany');
    return cancelMany(this.#client, ids);
  }

  /** Whether the id is a live timer's. */
  has(id: TimerId): boolean {
    requireOpen(this.#client, 'has');
    return this.#client.has(id);
  }

  /** The deadline of a live timer, ms; undefined for any other. */
  deadlineOf(id: TimerId): number | undefined {
    requireOpen(this.#client, 'deadlineOf');
    return this.#client.deadlineOf(id);
  }

  /** The shard that a hint's timers are placed on. */
  shardOf(workerHint: WorkerHint): number {
    requireOpen(this.#client, 'shardOf');
    return this.#client.shardOf(workerHint);
  }

  /** Timers that end together, as those of a connection do: see {@link TimerGroup}. Throws InvalidArgumentError. */
  group(workerHint: WorkerHint): TimerGroup {
    this.shardOf(workerHint);
    return new TimerGroup(this, workerHint);
  }

  /**
   * The calls that start timers, with a label: see {@link LabelledTimers}. With `min` the label is a class of scaled timers. A name
   * is a label from its first use on, one of 254 at most: what comes after counts as '(other)'. Throws InvalidArgumentError.
   */
  label(name: string, options?: LabelOptions): LabelledTimers {
    requireOpen(this.#client, 'label');
    return new LabelledTimers(this, this.#client, name, options);
  }

  /** The calls that give timers their time, with this slack, ms, and not the scheduler's. Throws InvalidArgumentError. */
  withSlack(slack: number): SlackTimers {
    requireOpen(this.#client, 'withSlack');
    return new SlackTimers(this, this.#client, slack);
  }

  /**
   * What the promise, or the function's result, comes to, if it comes within `delay` ms; else rejects with TimeoutError,
   * or with AbortError when the signal aborts, or with SchedulerClosedError when `close()` comes first. The function is
   * given a signal that aborts then, too. However it ends, no timer and no listener stays behind.
   */
  timeout<T>(work: BoundedWork<T>, delay: number, options?: BoundedWaitOptions): Promise<T> {
    return boundedWait(this, work, delay, options);
  }

  /**
   * A signal that aborts in `delay` ms, with a TimeoutError; as that of AbortSignal.timeout it does not hold the process.
   * Where `close()` hands its timer back, it never aborts.
   */
  signalAfter(delay: number, options?: DeadlineSignalOptions): DeadlineSignal {
    requireOpen(this.#client, 'signalAfter');
    return deadlineSignal(this.#client, delay, options);
  }
}
