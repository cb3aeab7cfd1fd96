import { EventEmitter } from 'node:events';
import { currentContext } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { InvalidArgumentError, SchedulerClosedError } from '../errors.ts';
import { type TimerId, type TimerIdLayout, timerIdLayout } from '../timer-id.ts';
import {
  isApart,
  readAll,
  requireCallback,
  requireDeadline,
  requireDelay,
  requireIds,
  requireLength,
  requireTimer,
} from './arguments.ts';
import { type BoundedWaitOptions, type BoundedWork, boundedWait, nextHint } from './bounded-wait.ts';
import type { Client } from './client.ts';
import type { TimerCallback, UnfiredTimer } from './client-lane.ts';
import { type Coordinator, startCoordinator } from './coordinator.ts';
import { coordinatorEvents } from './coordinator-events.ts';
import { type DeadlineSignal, deadlineSignal } from './deadline-signal.ts';
import type { FiredBatch } from './delivery.ts';
import { reveal } from './insides.ts';
import { ManualClock } from './manual-clock.ts';
import type { ResolvedOptions } from './options.ts';
import type { WorkerHint } from './placement.ts';
import type { ShardRestart } from './shard-host.ts';
import { collectStats, type SchedulerStats } from './stats.ts';
import { TimerBook } from './timer-book.ts';
import { TimerGroup } from './timer-group.ts';

export interface SchedulerEvents {
  fired: [batch: FiredBatch];
  'shard-restart': [restart: ShardRestart];
  error: [error: unknown];
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

  private readonly keepsContexts: boolean;
  private readonly coordinator: Coordinator;
  private readonly client: Client;
  private readonly book: TimerBook;
  private readonly manualClock: ManualClock;
  private readonly signal: AbortSignal | undefined;
  private closing: Promise<UnfiredTimer[]> | undefined;

  /** Use `createScheduler`. */
  constructor(options: ResolvedOptions) {
    super();
    this.shards = options.shards;
    this.keepsContexts = options.keepsContexts;
    this.idLayout = timerIdLayout(options.shards, options.capacity);
    const events = coordinatorEvents(this, options.shards);
    this.coordinator = startCoordinator(options, this.idLayout, events);
    this.client = this.coordinator.client;
    this.book = new TimerBook(this.client, this.idLayout);
    this.manualClock = new ManualClock(this.coordinator);
    reveal(this, { client: this.client, book: this.book, keepsContexts: this.keepsContexts });
    this.signal = options.signal;
    this.signal?.addEventListener('abort', this.abort, { once: true });
    if (this.signal?.aborted) this.abort();
    else this.coordinator.start(); // the last thing, so that a scheduler that cannot be made leaves no thread
  }

  /** Resolves when every shard is up. */
  get ready(): Promise<void> {
    const ready = this.coordinator.ready();
    ready.catch(() => undefined); // who does not wait for it need not hear that close() came first
    return ready;
  }

  /** Live timers: scheduled, neither delivered nor cancelled. */
  get size(): number {
    return this.client.size;
  }

  /** ms since the scheduler's start, never falling. */
  now(): number {
    this.requireOpen('now');
    return this.client.clock.now();
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
    this.requireOpen('schedule');
    requireTimer(deadline, callback);
    return this.book.start(workerHint, deadline, callback, argument, this.contextFor(callback));
  }

  /** Schedules a timer to fire when at least `delay` ms have passed since this call. Throws as {@link schedule} does. */
  scheduleAfter<A = undefined>(
    workerHint: WorkerHint,
    delay: number,
    callback?: TimerCallback<A>,
    argument?: A,
  ): TimerId {
    this.requireOpen('scheduleAfter');
    requireDelay(delay);
    requireCallback(callback);
    const deadline = this.client.clock.exact() + delay;
    return this.book.start(workerHint, deadline, callback, argument, this.contextFor(callback));
  }

  /**
   * Schedules one timer for each pair of hint and deadline; all or, when an error is thrown, none. The ids are written
   * to `ids` (made where it is not given), in the order of the arguments.
   */
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array {
    this.requireOpen('scheduleMany');
    const count = requireLength('workerHints', workerHints);
    if (requireLength('deadlines', deadlines) !== count) {
      throw new InvalidArgumentError('deadlines', `must be as many as the workerHints (${count})`, deadlines.length);
    }
    const { book } = this;
    const hints = readAll(workerHints, book.capacity + 1);
    const times = readAll(deadlines, book.capacity + 1);
    const wanted = requireIds(ids, count);
    this.requireOpen('scheduleMany');
    // Until all are scheduled nobody else writes to them, as one that fails takes the others back.
    const given =
      wanted !== undefined && isApart(wanted, hints, times) ? wanted : new Float64Array(Math.min(count, book.capacity));
    book.startMany(hints, times, given, count);
    if (wanted === undefined || wanted === given) return given;
    Float64Array.prototype.set.call(wanted, given); // not a method of the caller's
    return wanted;
  }

  /** Moves a live timer to another deadline; its id stays. False where it is not live. Throws InvalidDeadlineError. */
  reschedule(id: TimerId, deadline: number): boolean {
    this.requireOpen('reschedule');
    if (typeof deadline !== 'number' || deadline - deadline !== 0) requireDeadline(deadline);
    return this.book.move(id, deadline);
  }

  /** Moves a live timer to at least `delay` ms from this call; its id stays. Throws as {@link reschedule} does. */
  rescheduleAfter(id: TimerId, delay: number): boolean {
    this.requireOpen('rescheduleAfter');
    requireDelay(delay);
    return this.book.move(id, this.client.clock.exact() + delay);
  }

  /** Ends a live timer. True means that it will not be delivered, even if its shard has fired it already. */
  cancel(id: TimerId): boolean {
    this.requireOpen('cancel');
    return this.book.cancel(id);
  }

  /** Cancels all of the given timers; returns how many were live. */
  cancelMany(ids: ArrayLike<number>): number {
    this.requireOpen('cancelMany');
    const count = requireLength('ids', ids);
    const all = readAll(ids, count);
    this.requireOpen('cancelMany');
    let live = 0;
    for (let i = 0; i < count; i++) if (this.book.cancel(all[i])) live += 1;
    return live;
  }

  /** Whether the id is a live timer's. */
  has(id: TimerId): boolean {
    this.requireOpen('has');
    return this.book.has(id);
  }

  /** The deadline of a live timer, ms; undefined for any other. */
  deadlineOf(id: TimerId): number | undefined {
    this.requireOpen('deadlineOf');
    return this.book.deadlineOf(id);
  }

  /** The shard that a hint's timers are placed on. */
  shardOf(workerHint: WorkerHint): number {
    this.requireOpen('shardOf');
    return this.book.shardOf(workerHint);
  }

  /** Timers that end together, as those of a connection do: see {@link TimerGroup}. Throws InvalidArgumentError. */
  group(workerHint: WorkerHint): TimerGroup {
    this.shardOf(workerHint);
    return new TimerGroup(this, workerHint);
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
  signalAfter(delay: number, { workerHint = nextHint() }: { workerHint?: WorkerHint } = {}): DeadlineSignal {
    this.requireOpen('signalAfter');
    requireDelay(delay);
    return deadlineSignal(this.client, this.book, workerHint, this.client.clock.exact() + delay);
  }

  /** Manual clock: moves the time and resolves with the number delivered, once every timer due by then is. */
  async advanceTo(now: number): Promise<number> {
    this.requireOpen('advanceTo');
    return this.manualClock.advanceTo(now);
  }

  /** The least time to which the clock can come so that a timer fires, over all shards; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    this.requireOpen('nextExpiration');
    try {
      return await this.coordinator.nextExpiration();
    } catch (error) {
      this.requireOpen('nextExpiration');
      throw error;
    }
  }

  /** Counts and percentiles. After close(): those of the client alone. */
  stats(): Promise<SchedulerStats> {
    return collectStats(this.coordinator, this.book);
  }

  /** Live timers keep the process running (the default). */
  ref(): this {
    this.requireOpen('ref');
    this.client.isRef = true;
    this.client.arm();
    return this;
  }

  /** Live timers do not keep the process running. */
  unref(): this {
    this.requireOpen('unref');
    this.client.isRef = false;
    this.client.arm();
    return this;
  }

  /** Stops the threads and hands back every timer that was not delivered. Idempotent: later calls get the same answer. */
  close(): Promise<UnfiredTimer[]> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async shutDown(): Promise<UnfiredTimer[]> {
    const unfired = this.book.unfired();
    this.signal?.removeEventListener('abort', this.abort);
    this.client.close();
    const stopped = this.coordinator.stop();
    await undefined; // so that who is told below, and closes it, gets this very promise
    try {
      for (const lane of this.client.lanes) lane.handBack();
    } finally {
      await stopped;
    }
    return unfired;
  }

  private readonly abort = (): void => {
    void this.close();
  };

  /** What a timer's callback runs in; undefined where that is no context, or none of ours. */
  private contextFor(callback: unknown): Context {
    return callback !== undefined && this.keepsContexts === true ? currentContext() : undefined;
  }

  private requireOpen(call: string): void {
    // Compared, not only tested: for what it does not know to be a boolean the compiler tests all that can be false.
    if (this.client.isClosed === true) throw new SchedulerClosedError(call);
  }
}
