import { inspect } from 'node:util';
import { type CallSite, CallSites } from '../client/call-sites.ts';
import type { Client } from '../client/client.ts';
import { type LiveTimer, liveTimersOf, type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import { Rescaling } from '../client/rescaling.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import type { TimerId } from '../timer-id.ts';
import type { Coordinator } from './coordinator.ts';
import { shownAs } from './inspection.ts';
import { ManualClock } from './manual-clock.ts';
import { requireOpen } from './require-open.ts';
import { collectWheels, type ShardWheel } from './shard-wheels.ts';
import { collectStats, type SchedulerStats } from './stats.ts';
import { StatsInterval } from './stats-interval.ts';
import { internalsOf, type SchedulerParts, TimerCalls } from './timer-calls.ts';

/**
 * Timers on other cores. What is promised stands in docs/guarantees.md and, as tests, in test/guarantees.
 *
 * Times are ms. A deadline is a time on `now()`'s clock; one that has passed fires at the next tick. A number that is
 * no live timer's id, or anything else in its place, is answered with false, undefined or 0. After close() all calls
 * but close, stats, wheels and size throw SchedulerClosedError; those that return promises reject with it.
 */
export class Scheduler extends TimerCalls implements AsyncDisposable {
  readonly #coordinator: Coordinator;
  readonly #client: Client;
  readonly #manualClock: ManualClock;
  readonly #signal: AbortSignal | undefined;
  readonly #rescaling: Rescaling;
  #closing: Promise<UnfiredTimer[]> | undefined;

  /** Use `createScheduler` or `connectScheduler`. */
  constructor(parts: SchedulerParts) {
    super(parts);
    const { client, coordinator } = internalsOf(this);
    this.#client = client;
    this.#coordinator = coordinator;
    this.#manualClock = new ManualClock(coordinator);
    this.#rescaling = new Rescaling(client);
    if (parts.traced !== undefined) client.callSites = new CallSites(parts.traced, (id) => client.has(id));
    this.#signal = parts.signal;
    this.#signal?.addEventListener('abort', this.#abort, { once: true });
    if (this.#signal?.aborted) this.#abort();
    else coordinator.start(); // the last thing, so that a scheduler that cannot be made leaves no thread
  }

  /** Resolves when every shard is up. */
  get ready(): Promise<void> {
    const ready = this.#coordinator.ready();
    ready.catch(() => undefined); // a caller that does not wait need not hear that close() came first
    return ready;
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

  /**
   * Every live timer of this client, shard by shard: each that lives all the while is seen once, whatever starts and ends between
   * two steps. Some 100 ns for each slot that has been in use at a time.
   */
  timers(): Generator<LiveTimer, void, undefined> {
    requireOpen(this.#client, 'timers');
    return liveTimersOf(this.#client);
  }

  /** Who has scheduled this client's timers, those with most live ones first; empty without `trace`. */
  callSites(): CallSite[] {
    requireOpen(this.#client, 'callSites');
    return this.#client.callSites?.all() ?? [];
  }

  /**
   * Gives the scaled timers of a label, made by {@link label} with a `min`, this much of their time beyond the minimum, from 0 to
   * 1: those that are live, those to come, and those that are moved. Live ones are moved a slice in each turn of the event loop,
   * about a quarter of a millisecond of it. Resolves when all have been. Throws InvalidArgumentError.
   */
  async setScale(label: string, factor: number): Promise<void> {
    requireOpen(this.#client, 'setScale');
    const scaled = this.#client.labels.scaled(label);
    if (typeof factor !== 'number' || !(factor >= 0 && factor <= 1)) {
      throw new InvalidArgumentError('factor', 'must be a number from 0 to 1', factor);
    }
    if (factor === scaled.factor) return this.#rescaling.settled();
    scaled.factor = factor;
    await this.#rescaling.begin();
  }

  /** Counts from one reading to the next: see {@link StatsInterval}. */
  interval(): StatsInterval {
    requireOpen(this.#client, 'interval');
    return new StatsInterval(this.#client);
  }

  /** How full each shard's wheel is, by level and slot, and what waits in its lanes. Asks each shard for some µs. */
  async wheels(): Promise<ShardWheel[]> {
    requireOpen(this.#client, 'wheels');
    return collectWheels(this.#coordinator);
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
    const unfired = unfiredTimers(this.#client, Math.max(1, this.shards));
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
