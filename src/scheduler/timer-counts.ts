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

export const countsOf = ({ size, scheduled, rescheduled, cancelled, delivery, lateness }: Client): TimerCounts => ({
  size,
  scheduled,
  rescheduled,
  cancelled,
  delivered: delivery.delivered,
  stale: delivery.stale,
  lateness: lateness.summary(),
});
