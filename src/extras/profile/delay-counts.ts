import type { BucketCounts, DelayCounts, TimerCounts } from './profile-data.ts';

const MAX_DELAYS = 1000;

/** Starts of the buckets in ms: 1, 2, 5, 10, … and everything from 10^9 on in the last. */
const bucketStarts: readonly number[] = [
  ...Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat(),
  1e9,
];

const bucketOf = (delay: number): number => {
  let bucket = bucketStarts.length - 1;
  while (bucket > 0 && bucketStarts[bucket] > delay) bucket -= 1;
  return bucket;
};

const nothing = (): TimerCounts => ({ created: 0, cleared: 0, refreshed: 0, fired: 0 });

/**
 * Exact counts by delay. Each new delay gets its own counts; when there are 1,000, further ones count in their bucket.
 * Counting takes a look-up and an increment.
 */
export class DelayCounters {
  private readonly own = new Map<number, TimerCounts>();
  /** By bucket: of the delays without their own counts. */
  private readonly others = bucketStarts.map(nothing);

  /** The counts of a delay, for the caller to raise. */
  of(delay: number): TimerCounts {
    const whole = Math.trunc(delay);
    return this.own.get(whole) ?? this.firstOf(whole);
  }

  private firstOf(delay: number): TimerCounts {
    if (this.own.size === MAX_DELAYS || !(delay >= 1)) return this.others[bucketOf(delay)];
    const counts = nothing();
    this.own.set(delay, counts);
    return counts;
  }

  get different(): number {
    return this.own.size;
  }

  totals(): TimerCounts {
    const totals = nothing();
    for (const counts of [...this.own.values(), ...this.others]) addTo(totals, counts);
    return totals;
  }

  /** The delays with their own counts, those with most operations first. */
  commonest(limit: number): DelayCounts[] {
    const rows = [...this.own].map(([delay, counts]) => ({ delay, ...counts }));
    return rows.sort((one, other) => operationsOf(other) - operationsOf(one)).slice(0, limit);
  }

  buckets(): BucketCounts[] {
    const buckets = this.others.map((counts, bucket) => ({ from: bucketStarts[bucket], ...counts }));
    for (const [delay, counts] of this.own) addTo(buckets[bucketOf(delay)], counts);
    return buckets;
  }
}

export const operationsOf = ({ created, cleared, refreshed, fired }: TimerCounts): number =>
  created + cleared + refreshed + fired;

function addTo(sum: TimerCounts, { created, cleared, refreshed, fired }: TimerCounts): void {
  sum.created += created;
  sum.cleared += cleared;
  sum.refreshed += refreshed;
  sum.fired += fired;
}
