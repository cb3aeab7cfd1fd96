import { type CallSite, CallSites } from '../client/call-sites.ts';
import type { Client } from '../client/client.ts';
import { type LiveTimer, liveTimersOf, type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import { Rescaling } from '../client/rescaling.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import type { TimerId } from '../timer-id.ts';
import type { Coordinator } from './coordinator.ts';
import { INSPECT, shownAs } from './inspection.ts';
import { ManualClock } from './manual-clock.ts';
import { requireOpen } from './require-open.ts';
import { collectWheels, type ShardWheel } from './shard-wheels.ts';
import { collectStats, type SchedulerStats } from './stats.ts';
import { StatsInterval } from './stats-interval.ts';
import { internalsOf, type SchedulerParts, TimerCalls } from './timer-calls.ts';

/**
 * Timers on other cores. docs/guarantees.md lists the guarantees; test/guarantees has their tests.
 *
 * Times are in ms. A deadline is a time on the clock of `now()`; a deadline in the past fires at the next tick. Calls that take
 * an id return false, undefined or 0 if it is not the id of a live timer. After `close()` all calls but `close`, `stats`
 * and `size` throw SchedulerClosedError; calls that return promises reject with it.
 */
export class Scheduler extends TimerCalls implements AsyncDisposable {
  readonly #coordinator: Coordinator;
  readonly #client: Client;
  readonly #manualClock: ManualClock;
  readonly #signal: AbortSignal | undefined;
  readonly #rescaling: Rescaling;
  #closing: Promise<UnfiredTimer[]> | undefined;

  /** Use `createScheduler` or `connectScheduler`. @internal */
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
    else coordinator.start(); // last, so that a failed constructor leaves no thread
  }

  /** Resolves when every shard is up. */
  get ready(): Promise<void> {
    const ready = this.#coordinator.ready();
    ready.catch(() => undefined); // unhandled, this must not end the process if close() came first
    return ready;
  }

  /**
   * Moves the time of a manual clock. Resolves with the number of timers delivered, when every timer due by then has been.
   * @cost One answer of each shard, and the deliveries.
   */
  async advanceTo(now: number): Promise<number> {
    requireOpen(this.#client, 'advanceTo');
    return this.#manualClock.advanceTo(now);
  }

  /**
   * Resolves with the earliest time at which a timer of any shard fires; undefined when none is live.
   * @cost One answer of each shard: a wake of its thread.
   */
  async nextExpiration(): Promise<number | undefined> {
    requireOpen(this.#client, 'nextExpiration');
    try {
      return await this.#coordinator.nextExpiration();
    } catch (error) {
      requireOpen(this.#client, 'nextExpiration');
      throw error;
    }
  }

  /**
   * Resolves with counts and percentiles. After `close()` they cover only the client.
   * @cost One answer of each shard: a wake of its thread.
   */
  stats(): Promise<SchedulerStats> {
    return collectStats(this.#coordinator);
  }

  /**
   * Iterates over the live timers of this client, shard by shard. A timer that is live throughout is seen once; timers may start
   * and end between two steps.
   * @cost Some 100 ns for each slot that has ever been in use.
   */
  timers(): Generator<LiveTimer, void, undefined> {
    requireOpen(this.#client, 'timers');
    return liveTimersOf(this.#client);
  }

  /**
   * Returns the places in the program that have scheduled this client's timers, those with most live timers first; empty without
   * `trace`.
   * @cost O(call sites seen).
   */
  callSites(): CallSite[] {
    requireOpen(this.#client, 'callSites');
    return this.#client.callSites?.all() ?? [];
  }

  /**
   * Sets the share, from 0 to 1, of the time beyond the minimum that scaled timers of a label get. The label was made by {@link
   * label} with a `min`. The factor holds at once for timers that are scheduled or moved from now on. Live timers are moved in
   * slices of about a quarter of a millisecond per turn of the event loop; resolves when all have been.
   * @throws InvalidArgumentError.
   * @cost 0.25 ms of each turn, until all live timers of the label have moved.
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

  /**
   * Returns a reader of counts between two readings: see {@link StatsInterval}.
   * @cost A copy of the counters and of the histogram of lateness.
   */
  interval(): StatsInterval {
    requireOpen(this.#client, 'interval');
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
   * Returns a handle for `connectScheduler` in any other thread of the process. It can be cloned without a transfer list, and
   * passed on.
   * @cost O(1).
   */
  share(): SchedulerHandle {
    requireOpen(this.#client, 'share');
    return this.#coordinator.share();
  }

  /**
   * Cancels a timer of any client of the scheduler. Resolves with true if that ended a live timer, which will not be delivered;
   * with false when every client has answered that it has none with this id.
   * @cost A message to each client, where the id is not of this client.
   */
  async cancelAnywhere(id: TimerId): Promise<boolean> {
    requireOpen(this.#client, 'cancelAnywhere');
    return this.#coordinator.cancelAnywhere(id);
  }

  /**
   * Makes live timers keep the process running (the default).
   * @cost O(1).
   */
  ref(): this {
    requireOpen(this.#client, 'ref');
    this.#client.hold.setRef(true);
    return this;
  }

  /**
   * Makes live timers not keep the process running.
   * @cost O(1).
   */
  unref(): this {
    requireOpen(this.#client, 'unref');
    this.#client.hold.setRef(false);
    return this;
  }

  /**
   * Stops the threads and resolves with every timer that was not delivered. Later calls return the same promise.
   * @cost O(live timers), and the end of the threads.
   */
  close(): Promise<UnfiredTimer[]> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  [INSPECT](): object {
    const { by: servedBy } = this.#coordinator.serving;
    return shownAs(this, { shards: this.shards, size: this.size, servedBy, isClosed: this.#client.isClosed });
  }

  async #shutDown(): Promise<UnfiredTimer[]> {
    const unfired = unfiredTimers(this.#client, Math.max(1, this.shards));
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#client.close();
    const stopped = this.#coordinator.stop();
    await undefined; // so that a listener below that calls close() gets this promise
    try {
      for (const lane of this.#client.lanes) lane.handBack();
      this.#client.home.handBack();
    } finally {
      await stopped;
    }
    return unfired;
  }

  readonly #abort = (): void => {
    void this.close();
  };
}
