import type { Client } from '../client/client.ts';
import type { Lateness } from '../metrics/lateness-histogram.ts';

/** The counts of a client since it was created, unless a field says otherwise. */
export interface TimerCounts {
  /** Live timers now. */
  size: number;
  scheduled: number;
  rescheduled: number;
  cancelled: number;
  delivered: number;
  /** Fired records whose timer had been cancelled or moved while they were on their way. */
  stale: number;
  /** Time of delivery minus deadline over all deliveries, in ms. It includes slack. */
  lateness: Lateness;
}

/** @internal */
export const countsOf = (client: Client): TimerCounts => ({
  ...numbersOf(client),
  lateness: client.lateness.summary(),
});

/** Returns the counts without the latenesses, which would take some µs. @internal */
const numbersOf = (client: Client): Omit<TimerCounts, 'lateness'> => {
  const { size, scheduled, rescheduled, cancelled, delivery } = client;
  const { delivered, stale } = delivery;
  return { size, scheduled, rescheduled, cancelled, delivered, stale };
};

/** The counts of a client between two times. */
export interface IntervalStats extends Omit<TimerCounts, 'size'> {
  /**
   * Beginning and end of the interval, in ms on the scheduler's clock. Each interval begins where the last one ended.
   */
  from: number;
  to: number;
  /** Live timers at its end. */
  size: number;
}

/**
 * Counts by interval, from `scheduler.statsInterval()`. Readers are independent of one another. One costs 26 KB, some
 * µs per reading, and nothing in between.
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
   * Returns the counts of this client since the last call, or since `statsInterval()`. After `close()` they end with
   * the close. `lateness.max` comes from the histogram: at most 0.8 % or 1 µs above the true maximum, never below.
   */
  next(): IntervalStats {
    const before = this.#before;
    const from = this.#from;
    const counts = numbersOf(this.#client);
    const lateness = this.#client.lateness.since(this.#latenesses).summary();
    this.#before = counts;
    this.#from = this.#client.clock.now();
    const since = { ...counts };
    for (const name of Object.keys(since) as (keyof typeof since)[]) since[name] -= before[name];
    return { ...since, from, to: this.#from, size: counts.size, lateness };
  }
}
