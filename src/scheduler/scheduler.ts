import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { requireCallback, requireDeadline, requireDelay, requireTimer } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback, UnfiredTimer } from '../client/client-lane.ts';
import type { WorkerHint } from '../client/placement.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import { type TimerId, type TimerIdLayout, timerIdLayout } from '../timer-id.ts';
import { type BoundedWaitOptions, type BoundedWork, boundedWait } from './bounded-wait.ts';
import type { Coordinator, CoordinatorEvents } from './coordinator.ts';
import { type DeadlineSignal, type DeadlineSignalOptions, deadlineSignal } from './deadline-signal.ts';
import { hideFields, shownAs } from './inspection.ts';
import { ManualClock } from './manual-clock.ts';
import { cancelMany, scheduleMany } from './many-timers.ts';
import { requireOpen } from './require-open.ts';
import { eventsOf, type SchedulerEvents } from './scheduler-events.ts';
import { SlackTimers } from './slack-timers.ts';
import { collectStats, type SchedulerStats } from './stats.ts';
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
  readonly coordinator: (layout: TimerIdLayout, events: CoordinatorEvents) => Coordinator;
}

let readInternals: (scheduler: Scheduler) => SchedulerInternals | undefined;

/** Throws InvalidArgumentError for what is no scheduler. */
export function internalsOf(scheduler: Scheduler): SchedulerInternals {
  const internals = typeof scheduler === 'object' && scheduler !== null ? readInternals(scheduler) : undefined;
  if (internals === undefined) throw new InvalidArgumentError('scheduler', 'must be a Scheduler', scheduler);
  return internals;
}

/**
 * Timers on other cores. What is promised stands in docs/guarantees.md and, as tests, in test/guarantees.
 *
 * Times are ms. A deadline is a time on `now()`'s clock; one that has passed fires at the next tick. A number that is
 * no live timer's id, or anything else in its place, is answered with false, undefined or 0. After close() all calls
 * but close, stats and size throw SchedulerClosedError; those that return promises reject with it.
 */
export class Scheduler extends EventEmitter<SchedulerEvents> implements AsyncDisposable {
  readonly shards: number;
  /** How timer ids are divided: shard, generation, slot. */
  readonly idLayout: TimerIdLayout;

  readonly #coordinator: Coordinator;
  readonly #client: Client;
  readonly #manualClock: ManualClock;
  readonly #signal: AbortSignal | undefined;
  #closing: Promise<UnfiredTimer[]> | undefined;

  static {
    readInternals = (scheduler) =>
      #client in scheduler ? { client: scheduler.#client, coordinator: scheduler.#coordinator } : undefined;
  }

  /** Use `createScheduler` or `connectScheduler`. */
  constructor({ shards, capacity, signal, coordinator }: SchedulerParts) {
    super();
    hideFields(this);
    this.shards = shards;
    this.idLayout = timerIdLayout(shards, capacity);
    this.#coordinator = coordinator(this.idLayout, eventsOf(this, shards));
    this.#client = this.#coordinator.client;
    this.#manualClock = new ManualClock(this.#coordinator);
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
    else this.#coordinator.start(); // the last thing, so that a scheduler that cannot be made leaves no thread
  }

  /** Resolves when every shard is up. */
  get ready(): Promise<void> {
    const ready = this.#coordinator.ready();
    ready.catch(() => undefined); // a caller that does not wait need not hear that close() came first
    return ready;
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
   * Schedules a timer for a deadline, on the shard that the hint is hashed to. Without a callback it arrives in a
   * 'fired' batch. Throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError.
   */
  schedule<A = undefined>(
    workerHint: WorkerHint,
    deadline: number,
    callback?: TimerCallback<A>,
    argument?: A,
  ): TimerId {
    requireOpen(this.#client, 'schedule');
    requireTimer(deadline, callback);
    const context = callback === undefined ? undefined : this.#client.context();
    return this.#client.start(workerHint, deadline, callback, argument, context);
  }

  /** Schedules a timer to fire when at least `delay` ms have passed since this call. Throws as {@link schedule} does. */
  scheduleAfter<A = undefined>(
    workerHint: WorkerHint,
    delay: number,
    callback?: TimerCallback<A>,
    argument?: A,
  ): TimerId {
    requireOpen(this.#client, 'scheduleAfter');
    requireDelay(delay);
    requireCallback(callback);
    const deadline = this.#client.clock.exact() + delay;
    const context = callback === undefined ? undefined : this.#client.context();
    return this.#client.start(workerHint, deadline, callback, argument, context);
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
   * A signal that aborts in `delay` ms, as AbortSignal.timeout does; it does not hold the process. Where `close()` hands
   * its timer back, it never aborts.
   */
  signalAfter(delay: number, options?: DeadlineSignalOptions): DeadlineSignal {
    requireOpen(this.#client, 'signalAfter');
    return deadlineSignal(this.#client, delay, options);
  }

  /** Manual clock: moves the time and resolves with the number delivered, once every timer due by then is. */
  async advanceTo(now: number): Promise<number> {
    requireOpen(this.#client, 'advanceTo');
    return this.#manualClock.advanceTo(now);
  }

  /** The least time to which the clock can come so that a timer fires, over all shards; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    requireOpen(this.#client, 'nextExpiration');
    try {
      return await this.#coordinator.nextExpiration();
    } catch (error) {
      requireOpen(this.#client, 'nextExpiration');
      throw error;
    }
  }

  /** Counts and percentiles. After close(): those of the client alone. */
  stats(): Promise<SchedulerStats> {
    return collectStats(this.#coordinator);
  }

  /** For `connectScheduler` in any other thread of the process: can be cloned, without a transfer list, and passed on. */
  share(): SchedulerHandle {
    requireOpen(this.#client, 'share');
    return this.#coordinator.share();
  }

  /**
   * Cancels a timer of whichever client of the scheduler it belongs to. Resolves with true where that ended a live timer,
   * which will not be delivered; with false once every client has said that it has none of this id.
   */
  async cancelAnywhere(id: TimerId): Promise<boolean> {
    requireOpen(this.#client, 'cancelAnywhere');
    return this.#coordinator.cancelAnywhere(id);
  }

  /** Live timers keep the process running (the default). */
  ref(): this {
    requireOpen(this.#client, 'ref');
    this.#client.hold.setRef(true);
    return this;
  }

  /** Live timers do not keep the process running. */
  unref(): this {
    requireOpen(this.#client, 'unref');
    this.#client.hold.setRef(false);
    return this;
  }

  /** Stops the threads and hands back every timer that was not delivered. Idempotent: later calls get the same answer. */
  close(): Promise<UnfiredTimer[]> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [inspect.custom](): object {
    const { by: servedBy } = this.#coordinator.serving;
    return shownAs(this, { shards: this.shards, size: this.size, servedBy, isClosed: this.#client.isClosed });
  }

  async #shutDown(): Promise<UnfiredTimer[]> {
    const unfired = this.#client.unfired();
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#client.close();
    const stopped = this.#coordinator.stop();
    await undefined; // so that a listener below that closes it gets this very promise
    try {
      for (const lane of this.#client.lanes) lane.handBack();
    } finally {
      await stopped;
    }
    return unfired;
  }

  readonly #abort = (): void => {
    void this.close();
  };
}
