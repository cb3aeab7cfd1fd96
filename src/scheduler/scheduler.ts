import { EventEmitter } from 'node:events';
import {
  CapacityExceededError,
  InvalidArgumentError,
  InvalidConfigError,
  InvalidDeadlineError,
  SchedulerClosedError,
} from '../errors.ts';
import { HORIZON } from '../lane/due-word.ts';
import { type TimerId, type TimerIdLayout, timerIdLayout } from '../timer-id.ts';
import type { Client } from './client.ts';
import type { ClientLane, TimerCallback, UnfiredTimer } from './client-lane.ts';
import { type Coordinator, startCoordinator } from './coordinator.ts';
import type { FiredBatch } from './delivery.ts';
import { type ResolvedOptions, resolveOptions, type SchedulerOptions } from './options.ts';
import { placementOf, type WorkerHint } from './placement.ts';
import type { ShardRestart } from './shard-host.ts';
import type { SchedulerStats } from './stats.ts';

export interface SchedulerEvents {
  fired: [batch: FiredBatch];
  'shard-restart': [restart: ShardRestart];
  error: [error: unknown];
}

/**
 * Makes a scheduler. Timers may be scheduled at once, before any thread is up.
 * Throws InvalidConfigError or InvalidArgumentError for options that cannot work.
 */
export const createScheduler = (options?: SchedulerOptions): Scheduler => new Scheduler(resolveOptions(options));

/**
 * Timers on other cores. What is promised stands in docs/guarantees.md and, as tests, in test/guarantees.
 *
 * Times are ms. A deadline is a time on `now()`'s clock; one that has passed fires at the next tick. A number that is
 * no live timer's id, or anything else in its place, is answered with false, undefined or 0.
 */
export class Scheduler extends EventEmitter<SchedulerEvents> implements AsyncDisposable {
  readonly shards: number;
  /** How timer ids are divided: shard, generation, slot. */
  readonly idLayout: TimerIdLayout;

  private readonly options: ResolvedOptions;
  private readonly coordinator: Coordinator;
  private readonly client: Client;
  private readonly lanes: readonly ClientLane[];
  private readonly laneScale: number;
  private scheduled = 0;
  private rescheduled = 0;
  private cancelled = 0;
  private closing: Promise<UnfiredTimer[]> | undefined;
  private advancing: Promise<unknown> = Promise.resolve();

  /** Use {@link createScheduler}. */
  constructor(options: ResolvedOptions) {
    super();
    this.options = options;
    this.shards = options.shards;
    this.idLayout = timerIdLayout(options.shards, options.capacity);
    this.laneScale = 2 ** -(this.idLayout.generationBits + this.idLayout.slotBits);
    this.coordinator = startCoordinator(options, this.idLayout, {
      emitBatch: (batch) => this.guard(() => this.emit('fired', batch)),
      failed: (error) => this.surface(error),
      restarted: (restart) => this.guard(() => this.emit('shard-restart', restart)),
    });
    this.client = this.coordinator.client;
    this.lanes = this.client.lanes;
    options.signal?.addEventListener('abort', this.abort, { once: true });
    if (options.signal?.aborted) this.abort();
  }

  /** Resolves when every shard is up. */
  get ready(): Promise<void> {
    return this.coordinator.ready();
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
    if (this.client.isClosed) throw new SchedulerClosedError('schedule');
    if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
    return this.start(workerHint, deadline, callback, argument);
  }

  /** Schedules a timer to fire when at least `delay` ms have passed since this call. Throws as {@link schedule} does. */
  scheduleAfter<A = undefined>(
    workerHint: WorkerHint,
    delay: number,
    callback?: TimerCallback<A>,
    argument?: A,
  ): TimerId {
    if (this.client.isClosed) throw new SchedulerClosedError('scheduleAfter');
    return this.start(workerHint, this.deadlineAfter(delay), callback, argument);
  }

  /**
   * Schedules one timer for each pair of hint and deadline; all or, when an error is thrown, none. The ids are written
   * to `ids` (made where it is not given), in the order of the arguments.
   */
  scheduleMany(
    workerHints: ArrayLike<number>,
    deadlines: ArrayLike<number>,
    ids: Float64Array = new Float64Array(lengthOf('workerHints', workerHints)),
  ): Float64Array {
    this.requireOpen('scheduleMany');
    const count = lengthOf('workerHints', workerHints);
    if (lengthOf('deadlines', deadlines) !== count) {
      throw new InvalidArgumentError('deadlines', `must be as many as the workerHints (${count})`, deadlines.length);
    }
    if (!(ids instanceof Float64Array) || ids.length < count) {
      throw new InvalidArgumentError('ids', `must be a Float64Array of at least ${count} entries`, ids);
    }
    for (let i = 0; i < count; i++) {
      try {
        ids[i] = this.schedule(workerHints[i], deadlines[i]);
      } catch (error) {
        const undone = this.cancelMany(ids.subarray(0, i));
        this.scheduled -= undone;
        this.cancelled -= undone;
        throw error;
      }
    }
    return ids;
  }

  /** Moves a live timer to another deadline; its id stays. False where it is not live. Throws InvalidDeadlineError. */
  reschedule(id: TimerId, deadline: number): boolean {
    if (this.client.isClosed) throw new SchedulerClosedError('reschedule');
    if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
    return this.move(id, deadline);
  }

  /** Moves a live timer to at least `delay` ms from this call; its id stays. */
  rescheduleAfter(id: TimerId, delay: number): boolean {
    if (this.client.isClosed) throw new SchedulerClosedError('rescheduleAfter');
    return this.move(id, this.deadlineAfter(delay));
  }

  /** Ends a live timer. True means that it will not be delivered, even if its shard has fired it already. */
  cancel(id: TimerId): boolean {
    if (this.client.isClosed) throw new SchedulerClosedError('cancel');
    const lane = this.laneOf(id);
    const slot = lane === undefined ? -1 : lane.table.slotOf(id);
    if (slot < 0) return false;
    this.client.cancel(lane as ClientLane, slot);
    this.cancelled += 1;
    return true;
  }

  /** Cancels all of the given timers; returns how many were live. */
  cancelMany(ids: ArrayLike<number>): number {
    this.requireOpen('cancelMany');
    const count = lengthOf('ids', ids);
    let live = 0;
    for (let i = 0; i < count; i++) if (this.cancel(ids[i])) live += 1;
    return live;
  }

  /** Whether the id is a live timer's. */
  has(id: TimerId): boolean {
    this.requireOpen('has');
    return (this.laneOf(id)?.table.slotOf(id) ?? -1) >= 0;
  }

  /** The deadline of a live timer, ms; undefined for any other. */
  deadlineOf(id: TimerId): number | undefined {
    this.requireOpen('deadlineOf');
    const lane = this.laneOf(id);
    const slot = lane?.table.slotOf(id) ?? -1;
    return slot < 0 ? undefined : lane?.table.deadlineOf(slot);
  }

  /** The shard that a hint's timers are placed on. */
  shardOf(workerHint: WorkerHint): number {
    this.requireOpen('shardOf');
    return placementOf(workerHint, this.lanes.length);
  }

  /** Manual clock: moves the time and resolves with the number delivered, once every timer due by then is. */
  async advanceTo(now: number): Promise<number> {
    this.requireOpen('advanceTo');
    if (!this.options.manual)
      throw new InvalidConfigError('options.clock', "must be 'manual' for advanceTo", 'monotonic');
    if (typeof now !== 'number' || now - now !== 0) throw new InvalidDeadlineError(now, undefined, 'time');
    const last = this.coordinator.scale.timeOf(Number.MAX_SAFE_INTEGER);
    if (now > last) throw new InvalidDeadlineError(now, `must be at most ${last}, the last tick`, 'time');
    const advance = this.advancing.then(() => this.advance(now));
    this.advancing = advance.catch(() => undefined);
    return this.coordinator.during(advance);
  }

  /** The least time to which the clock can come so that a timer fires, over all shards; undefined when none is live. */
  async nextExpiration(): Promise<number | undefined> {
    this.requireOpen('nextExpiration');
    const least = await this.coordinator.leastDeadline();
    if (least === Number.POSITIVE_INFINITY) return undefined;
    const { scale } = this.coordinator;
    const past = scale.tickAtOrBefore(this.client.clock.published());
    return scale.timeOf(Math.max(scale.tickAtOrAfter(least), past + 1));
  }

  /** Counts and percentiles. After close(): those of the client alone. */
  async stats(): Promise<SchedulerStats> {
    const { client } = this;
    const shards = client.isClosed ? [] : await this.coordinator.shardStats();
    return {
      size: client.size,
      scheduled: this.scheduled,
      rescheduled: this.rescheduled,
      cancelled: this.cancelled,
      delivered: client.delivery.delivered,
      stale: client.delivery.stale,
      lateness: client.lateness.summary(),
      shards,
    };
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

  private start(hint: WorkerHint, deadline: number, callback: unknown, argument: unknown): TimerId {
    if (callback !== undefined && typeof callback !== 'function') {
      throw new InvalidArgumentError('callback', 'must be a function', callback);
    }
    const shard = placementOf(hint, this.lanes.length);
    const lane = this.lanes[shard];
    const slot = this.client.schedule(lane, deadline, callback, argument);
    if (slot < 0) throw new CapacityExceededError(this.options.capacity, shard);
    this.scheduled += 1;
    return lane.table.idOf(slot);
  }

  private move(id: TimerId, deadline: number): boolean {
    const lane = this.laneOf(id);
    const slot = lane === undefined ? -1 : lane.table.slotOf(id);
    if (slot < 0) return false;
    this.client.move(lane as ClientLane, slot, deadline);
    this.rescheduled += 1;
    return true;
  }

  /** The lane that an id names; for what is no id, none or any: its table refuses it. */
  private laneOf(id: TimerId): ClientLane | undefined {
    return typeof id === 'number' ? this.lanes[Math.floor(id * this.laneScale)] : undefined;
  }

  /** Delays count from the present by the source of time itself: the shared slot may be some µs behind it. */
  private deadlineAfter(delay: number): number {
    if (typeof delay !== 'number' || delay - delay !== 0) throw new InvalidDeadlineError(delay, undefined, 'delay');
    return this.client.clock.exact() + delay;
  }

  private async advance(to: number): Promise<number> {
    const { client } = this;
    const before = client.delivery.delivered;
    while (!client.isClosed && client.clock.published() < to) {
      await client.publishAll();
      const next = await this.nextStop(to);
      if (next === undefined) continue;
      client.clock.set(next);
      await client.settle();
    }
    return client.delivery.delivered - before;
  }

  /**
   * How far a manual clock may go at once: to the horizon of due words, or to the next deadline if that lies beyond.
   * Timers beyond the horizon come back to the client there, and would be delivered in that order if both were passed in
   * one step. Undefined where something was scheduled while the shards were asked: ask again.
   */
  private async nextStop(to: number): Promise<number | undefined> {
    const { client } = this;
    const { scale } = this.coordinator;
    const reach = scale.timeOf(scale.tickAtOrBefore(client.clock.published()) + HORIZON);
    if (to <= reach) return to;
    await client.settle();
    const least = await this.coordinator.leastDeadline();
    return client.isQuiet() ? Math.min(to, Math.max(reach, scale.timeOf(scale.tickAtOrAfter(least)))) : undefined;
  }

  private async shutDown(): Promise<UnfiredTimer[]> {
    const unfired = this.lanes.flatMap((lane) => [...lane.unfired()]);
    this.options.signal?.removeEventListener('abort', this.abort);
    this.client.close();
    await this.coordinator.stop();
    return unfired;
  }

  private readonly abort = (): void => {
    void this.close();
  };

  private requireOpen(call: string): void {
    if (this.client.isClosed) throw new SchedulerClosedError(call);
  }

  /** Runs listeners; what they throw surfaces like what a callback throws. */
  private guard(emit: () => void): void {
    try {
      emit();
    } catch (error) {
      this.surface(error);
    }
  }

  /** To the 'error' listener, or else as an uncaught exception, after the rest of the batch. */
  private surface(error: unknown): void {
    if (this.listenerCount('error') > 0) {
      try {
        this.emit('error', error);
        return;
      } catch (thrown) {
        process.nextTick(rethrow, thrown);
        return;
      }
    }
    process.nextTick(rethrow, error);
  }
}

const rethrow = (error: unknown): never => {
  throw error;
};

function lengthOf(argument: string, value: ArrayLike<number>): number {
  const length = (value as ArrayLike<number> | null | undefined)?.length;
  if (typeof value !== 'object' || !Number.isSafeInteger(length) || (length as number) < 0) {
    throw new InvalidArgumentError(argument, 'must be an array of numbers', value);
  }
  return length as number;
}
