import type { Client } from '../client/client.ts';
import type { Lateness } from '../metrics/lateness-histogram.ts';

/** What a client has counted since it was made, unless said otherwise. */
export interface TimerCounts {
  /** Live timers now. */
  size: number;
  scheduled: number;
  rescheduled: number;
  cancelled: number;
  delivered: number;
  /** Fired records whose timer had been cancelled or moved while they were on their way. */
  stale: number;
  /** Time of delivery minus deadline over all deliveries, ms: slack, as far as it was used, is part of it. */
  lateness: Lateness;
}

export const countsOf = (client: Client): TimerCounts => ({
  ...numbersOf(client),
  lateness: client.lateness.summary(),
});

/** Without the latenesses, which are some µs' work. */
export const numbersOf = (client: Client): Omit<TimerCounts, 'lateness'> => {
  const { size, scheduled, rescheduled, cancelled, delivery } = client;
  const { delivered, stale } = delivery;
  return { size, scheduled, rescheduled, cancelled, delivered, stale };
};
