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
export const numbersOf = (client: Client): Omit<TimerCounts, 'lateness'> => {
  const { size, scheduled, rescheduled, cancelled, delivery } = client;
  const { delivered, stale } = delivery;
  return { size, scheduled, rescheduled, cancelled, delivered, stale };
};
