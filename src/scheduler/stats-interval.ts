import type { Client } from '../client/client.ts';
import { numbersOf, type TimerCounts } from './timer-counts.ts';

/** What a client has counted from one time to another. */
export interface IntervalStats extends Omit<TimerCounts, 'size'> {
  /** When the interval began and ended, ms on the scheduler's clock: each begins where the one before it ended. */
  from: number;
  to: number;
  /** Live timers at its end. */
  size: number;
}

/**
 * Counts by interval: `scheduler.interval()`. Each is on its own, and whoever reads one disturbs no other. It costs 26 KB,
 * some µs per reading, and nothing in between.
 */
export class StatsInterval {
  readonly #client: Client;
  readonly #latenesses: Float64Array;
  #before: Omit<TimerCounts, 'lateness'>;
  #from: number;

  /** @internal */
  constructor(client: Client) {
    this.#client = client;
    this.#latenesses = client.lateness.copy();
    this.#before = numbersOf(client);
    this.#from = client.clock.now();
  }

  /**
   * What this client has counted since the call before, or else since `interval()`. Also after close(): what was counted until
   * then. `lateness.max` is that of the histogram: at most 0.8 % or 1 µs above the longest there was, never below.
   */
  next(): IntervalStats {
    const before = this.#before;
    const from = this.#from;
    const counts = numbersOf(this.#client);
    this.#before = counts;
    this.#from = this.#client.clock.now();
    return {
      from,
      to: this.#from,
      size: counts.size,
      scheduled: counts.scheduled - before.scheduled,
      rescheduled: counts.rescheduled - before.rescheduled,
      cancelled: counts.cancelled - before.cancelled,
      delivered: counts.delivered - before.delivered,
      stale: counts.stale - before.stale,
      lateness: this.#client.lateness.since(this.#latenesses).summary(),
    };
  }
}
