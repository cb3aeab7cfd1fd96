import { EventEmitter } from 'node:events';
import { delayUntil, requireDeadline, requireDelay } from '../arguments.ts';
import type { Coordinator, CoordinatorEvents } from '../assembly/coordinator.ts';
import type { ResolvedOptions } from '../assembly/options.ts';
import { StatsInterval } from '../assembly/stats-interval.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { LabelOptions } from '../client/labels/label-registry.ts';
import { type LiveTimer, liveTimersOf, type UnfiredTimer } from '../client/live-timers.ts';
import { addClass, addScheduler, requireScheduler } from '../own-copy.ts';
import { refuseOldNames } from '../renamed.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import type { WallClockTime } from '../time/wall-clock-time.ts';
import { type TimerId, type TimerIdLayout, timerIdLayout } from '../timer-id.ts';
import { type DeadlineSignal, deadlineSignal } from './deadline-signal.ts';
import { hideFields, INSPECT, shownAs } from './inspection.ts';
import { type AdvanceOptions, ManualClock } from './manual-clock.ts';
import { cancelMany, scheduleMany } from './many-timers.ts';
import type { RepeatOptions } from './repeat-options.ts';
import { requireOpen } from './require-open.ts';
import { eventsOf, type SchedulerEvents } from './scheduler-events.ts';
import { ShardAnswers } from './shard-answers.ts';
import { collectWheels, type ShardWheel } from './shard-wheels.ts';
import { collectStats, type SchedulerStats, type StatsOptions } from './stats.ts';
import { placementOf, type TimerGroup, type TimerStarts, type WorkerHint } from './timer-group.ts';
import { TimerGroups } from './timer-groups.ts';
import { TimerLabel, TimerLabels } from './timer-label.ts';
import type { WaitOptions } from './wait-start.ts';
import { type BoundedWork, sleep, withTimeout } from './waits.ts';

/**
 * Timers of this thread, kept inline or by threads of their own. docs/guarantees.md lists the guarantees;
 * test/guarantees has their tests.
 *
 * Times are in ms. A deadline is a time on the clock of `now()`; a deadline in the past fires at the next tick. Calls
 * that take an id return false, undefined or 0 if it is not the id of a live timer. After `close()` no timer is live,
 * and what only ends or asks for timers answers so. What would start, move or share throws SchedulerClosedError; calls
 * that return promises reject with it.
 */
export class Scheduler extends EventEmitter<SchedulerEvents> implements TimerStarts, AsyncDisposable {
  readonly shards: number;
  /** The layout of timer ids: shard, generation, slot. */
  readonly idLayout: TimerIdLayout;

  readonly #coordinator: Coordinator;
  readonly #client: Client;
  /** The calls that start timers, without a label. */
  readonly #plain: TimerLabel;
  readonly #labels: TimerLabels;
  readonly #groups: TimerGroups;
  readonly #manualClock: ManualClock;
  readonly #answers: ShardAnswers;
  readonly #signal: AbortSignal | undefined;
  #closing: Promise<UnfiredTimer[]> | undefined;

  /**
   * What a scheduler is made of: for the drop-in timers, which live in its client, and for tests. All others have its
   * public calls. Throws InvalidArgumentError if it is no scheduler.
   * @internal
   */
  static coordinatorOf(scheduler: Scheduler): Coordinator {
    requireScheduler(scheduler);
    return scheduler.#coordinator;
  }

  /** Use `createScheduler` or `connectScheduler`. @internal */
  constructor(
    { shards, capacity, signal }: Pick<ResolvedOptions, 'shards' | 'capacity' | 'signal'>,
    coordinator: (events: CoordinatorEvents) => Coordinator,
  ) {
    super();
    hideFields(this);
    this.shards = shards;
    this.idLayout = timerIdLayout(shards, capacity);
    this.#coordinator = coordinator(eventsOf(this, shards));
    this.#client = this.#coordinator.client;
    addScheduler(this);
    this.#labels = new TimerLabels(this.#client, this.#coordinator.scales);
    this.#plain = this.#labels.plain;
    this.#groups = new TimerGroups(this.#client, this.#plain, this.idLayout);
    this.#manualClock = new ManualClock(this.#coordinator);
    this.#answers = new ShardAnswers(this.#coordinator);
    this.#signal = signal;
    try {
      this.#signal?.addEventListener('abort', this.#abort, { once: true });
    } catch (error) {
      void this.#coordinator.close(); // a refused call leaves nothing, among other clients
      throw error;
    }
    if (this.#signal?.aborted) this.#abort();
    else this.#coordinator.start(); // last, so that a failed constructor leaves no thread
  }

  /** Resolves when the timers are served as the options ask. */
  get ready(): Promise<void> {
    const ready = this.#coordinator.ready();
    ready.catch(() => undefined); // unhandled, this must not end the process if close() came first
    return ready;
  }

  /** Whether `close()` has been called, by the program or by `options.signal`. The event 'close' tells of it. */
  get isClosed(): boolean {
    return this.#client.isClosed;
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

  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#plain.schedule(workerHint, deadline, callback, argument as A);
  }

  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#plain.scheduleAfter(workerHint, delay, callback, argument as A);
  }

  scheduleAt(workerHint: WorkerHint, date: WallClockTime, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: WallClockTime,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  scheduleAt<A>(workerHint: WorkerHint, date: WallClockTime, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#plain.scheduleAt(workerHint, date, callback, argument as A);
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
  scheduleEvery(hint: WorkerHint, period: number, callback?: unknown, argument?: unknown, options?: RepeatOptions) {
    return this.#plain.scheduleEvery(hint, period, callback as TimerCallback<unknown>, argument, options);
  }

  /**
   * Schedules one timer for each pair of hint and deadline; all of them, or none if it throws. Writes the ids to `ids`,
   * in the order of the arguments; creates that array if it is not given. Throws like {@link TimerStarts.schedule}.
   * @cost O(n), without the checks and the call of each.
   */
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array {
    requireOpen(this.#client, 'scheduleMany');
    return scheduleMany(this.#client, workerHints, deadlines, ids);
  }

  /**
   * Moves a live timer to another deadline; it keeps its id. Returns false if it is not live. Of a repeating timer it
   * moves the next call, and the grid with it. Throws InvalidDeadlineError, SchedulerClosedError.
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
    return this.#client.reschedule(id, this.#client.clock.read() + delay);
  }

  /**
   * Moves a live timer to a time of the wall clock: see {@link TimerStarts.scheduleAt}. It keeps its id. Throws like
   * {@link reschedule}.
   * @cost As `rescheduleAfter`, and a reading of the wall clock.
   */
  rescheduleAt(id: TimerId, date: WallClockTime): boolean {
    requireOpen(this.#client, 'rescheduleAt');
    return this.rescheduleAfter(id, delayUntil(date));
  }

  /**
   * Cancels a live timer. True means that it will not be delivered, even if its shard has fired it already. Who waits
   * for it hears of that: `sleep` and `withTimeout` reject with AbortError, a signal of `signalAfter` aborts with one.
   * Never throws.
   * @cost O(1). One write to the table; the shard drops its entry later.
   */
  cancel(id: TimerId): boolean {
    return !this.#client.isClosed && this.#client.cancel(id);
  }

  /**
   * Cancels all the given timers; returns how many were live.
   * @throws InvalidArgumentError; after `close()` nothing.
   * @cost O(n).
   */
  cancelMany(ids: ArrayLike<number>): number {
    return this.#client.isClosed ? 0 : cancelMany(this.#client, ids);
  }

  /**
   * Returns whether the id belongs to a live timer. Never throws.
   * @cost O(1).
   */
  has(id: TimerId): boolean {
    return !this.#client.isClosed && this.#client.has(id);
  }

  /**
   * Returns the deadline of a live timer in ms; undefined if it is not live. Never throws.
   * @cost O(1).
   */
  deadlineOf(id: TimerId): number | undefined {
    return this.#client.isClosed ? undefined : this.#client.deadlineOf(id);
  }

  /**
   * Returns the shard on which timers with this hint are placed. Throws InvalidArgumentError, SchedulerClosedError.
   * @cost O(1).
   */
  shardOf(workerHint: WorkerHint): number {
    requireOpen(this.#client, 'shardOf');
    return placementOf(workerHint, this.#client);
  }

  /**
   * Returns a group of timers that end together, such as those of a connection: see {@link TimerGroup}. Throws
   * InvalidArgumentError, SchedulerClosedError.
   * @cost An object of 112 bytes; beyond four live timers an array with a number for each.
   */
  group(workerHint: number | string): TimerGroup {
    requireOpen(this.#client, 'group');
    return this.#groups.group(workerHint);
  }

  /**
   * Returns the calls that start timers of one kind: see {@link TimerLabel}. For a name that exists it returns the same
   * label; a setting that is omitted is then as made. A client has at most 254 labels; timers of further ones count as
   * '(other)'.
   * @throws InvalidArgumentError, also for another setting than the label was made with; InvalidConfigError for an
   * unknown option; SchedulerClosedError.
   * @cost A byte per timer and shard, once a timer has a label; see docs/guide.md.
   */
  label(name: string, options?: LabelOptions): TimerLabel {
    requireOpen(this.#client, 'label');
    return this.#labels.named(name, options);
  }

  /**
   * Resolves when at least `delay` ms have passed. Rejects with AbortError if the signal aborts or its timer is
   * cancelled, by id or with the group that is the hint, and with SchedulerClosedError if `close()` comes first.
   * @throws by rejection, beside those: InvalidDeadlineError, InvalidArgumentError, InvalidConfigError for what it is
   * given; CapacityExceededError, AllocationError.
   * @cost A timer, a promise and, with a signal, one listener for all waits on it.
   */
  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleep(this.#plain, delay, options);
  }

  /**
   * Waits for the promise, or for the function's result, for at most `delay` ms; with Infinity without a limit. Rejects
   * with TimeoutError after that, with AbortError if the signal aborts or its timer is cancelled, by id or with the
   * group that is the hint, and with SchedulerClosedError if `close()` comes first. The function gets a signal that
   * aborts in these cases. Leaves no timer and no listener behind.
   * @throws by rejection, beside those and what `work` throws: InvalidDeadlineError, InvalidArgumentError,
   * InvalidConfigError for what it is given; CapacityExceededError, AllocationError.
   * @cost A timer, a promise and, with a signal, one listener for all waits on it.
   */
  withTimeout<T>(work: BoundedWork<T>, delay: number, options?: WaitOptions): Promise<T> {
    return withTimeout(this.#plain, work, delay, options);
  }

  /**
   * Returns a signal that aborts in `delay` ms, with a TimeoutError, or with the signal of the options; and with an
   * AbortError if its timer is cancelled, by id or with the group that is the hint. Like that of AbortSignal.timeout,
   * it does not hold the process. If `close()` hands its timer back, it neither aborts nor listens until that is
   * scheduled anew.
   * @throws InvalidDeadlineError, also for Infinity; InvalidArgumentError, InvalidConfigError for an option;
   * CapacityExceededError, AllocationError, SchedulerClosedError.
   * @cost A timer and an AbortSignal; until it is disposed or aborts, both are held.
   */
  signalAfter(delay: number, options?: WaitOptions): DeadlineSignal {
    requireOpen(this.#client, 'signalAfter');
    return deadlineSignal(this.#plain, delay, options);
  }

  /**
   * Moves the time of a manual clock, from due time to due time: at each all timers that are due are delivered, and all
   * reactions run of promises that this has settled, before the clock goes on. Resolves with the number of timers
   * delivered, when every timer due by `now` has been. With `{ jump: true }` it moves in one step, as a blocked event
   * loop sees it.
   * @throws by rejection: InvalidDeadlineError; InvalidArgumentError, InvalidConfigError for an option, or if the clock
   * is not manual; SchedulerClosedError.
   * @cost Some µs a stop; with a thread, one or two answers of each shard a stop. And the deliveries.
   */
  async advanceTo(now: number, options?: AdvanceOptions): Promise<number> {
    requireOpen(this.#client, 'advanceTo');
    return this.#manualClock.advanceTo(now, options);
  }

  /**
   * Resolves with the earliest time at which a timer of this client fires, on any shard, drop-in timers included;
   * undefined when it has none. Timers of other clients do not count.
   * @cost One answer of each shard, which takes all commands that wait: a wake of its thread.
   */
  async nextExpiration(): Promise<number | undefined> {
    requireOpen(this.#client, 'nextExpiration');
    return this.#coordinator.nextExpiration().catch((error) => {
      requireOpen(this.#client, 'nextExpiration');
      throw error;
    });
  }

  /**
   * Resolves with counts and percentiles. After `close()` they cover only the client. With `options.timeout` no shard
   * is waited for longer, and one that fails is as one that does not answer.
   * @throws InvalidArgumentError, InvalidConfigError for the options; else, after `close()`, nothing.
   * @cost One answer of each shard, which takes all commands that wait: a wake of its thread. In the owner of a shared
   * scheduler also one of each other client: a wake of its event loop; those of blocked ones are waited for 20 ms at
   * most.
   */
  stats(options?: StatsOptions): Promise<SchedulerStats> {
    return collectStats(this.#coordinator, this.#answers, options);
  }

  /**
   * Iterates over the live timers of this client, shard by shard. A timer that is live throughout is seen once; timers
   * may start and end between two steps. Never throws.
   * @cost Some 100 ns for each slot that has ever been in use.
   */
  liveTimers(): Generator<LiveTimer, void, undefined> {
    return liveTimersOf(this.#client);
  }

  /**
   * Returns a reader of counts between two readings: see {@link StatsInterval}.
   * @cost A copy of the counters and of the histogram of lateness.
   */
  statsInterval(): StatsInterval {
    requireOpen(this.#client, 'statsInterval');
    return new StatsInterval(this.#client);
  }

  /**
   * Resolves with how full each shard's wheel is, by level and slot, and what waits in its lanes.
   * @cost Some µs of each shard.
   */
  async wheels(): Promise<ShardWheel[]> {
    requireOpen(this.#client, 'wheels');
    return collectWheels(this.#coordinator);
  }

  /**
   * Returns a handle for `connectScheduler` in any other thread of the process. It can be cloned without a transfer
   * list, and passed on. Throws AllocationError, SchedulerClosedError; UnsupportedRuntimeError where Node has no
   * SharedArrayBuffer.
   * @cost O(1).
   */
  share(): SchedulerHandle {
    requireOpen(this.#client, 'share');
    return this.#coordinator.share();
  }

  /**
   * Cancels a timer of any client of the scheduler. Resolves with true if that ended a live timer, which will not be
   * delivered; with false when every client has answered that it has none with this id.
   * @throws SchedulerClosedError if `close()` comes before the answers; after `close()` nothing.
   * @cost A message to each client, where the id is not of this client.
   */
  async cancelAnywhere(id: TimerId): Promise<boolean> {
    return !this.#client.isClosed && (await this.#coordinator.cancelAnywhere(id));
  }

  /**
   * Makes live timers keep the process running (the default).
   * @cost O(1).
   */
  ref(): this {
    requireOpen(this.#client, 'ref');
    this.#client.refs.setRef(true);
    return this;
  }

  /**
   * Makes live timers not keep the process running.
   * @cost O(1).
   */
  unref(): this {
    requireOpen(this.#client, 'unref');
    this.#client.refs.setRef(false);
    return this;
  }

  /**
   * Stops the threads and resolves with every timer that was not delivered. Waits of `sleep` and `withTimeout` reject
   * with SchedulerClosedError; a signal of `signalAfter` goes on if its timer is scheduled anew. Later calls return the
   * same promise.
   * @cost O(live timers), and the end of the threads.
   */
  close(): Promise<UnfiredTimer[]> {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#closing ??= this.#coordinator.close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [INSPECT](): object {
    const { by: servedBy } = this.#coordinator.serving;
    return shownAs(this, { shards: this.shards, size: this.size, servedBy, isClosed: this.isClosed });
  }

  readonly #abort = (): void => void this.close();
}

addClass(Scheduler);
refuseOldNames(Scheduler.prototype, TimerLabel.prototype);
