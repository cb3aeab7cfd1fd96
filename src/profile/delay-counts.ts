import type { BucketCounts, DelayCounts, TimerCounts } from './profile-data.ts';

/** Columns of a row. */
export const CREATED = 0;
export const CLEARED = 1;
export const REFRESHED = 2;
export const FIRED = 3;
const COLUMNS = 4;

/** Delays below this have their row in a table, others in a map. */
const DIRECT = 2 ** 16;
const MOST_DELAYS = 1000;

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

/**
 * Exact counts by delay. Each new delay gets its own row; when there are 1,000, further ones count
 * in the row of their bucket. Counting takes a look-up and an increment.
 *
 *     rows   0 … 27    the buckets: delays without their own row
 *            28 …      one delay each
 */
export class DelayCounters {
  private readonly counts = new Float64Array((bucketStarts.length + MOST_DELAYS) * COLUMNS);
  private readonly direct = new Uint16Array(DIRECT);
  private readonly far = new Map<number, number>();
  private readonly delays: number[] = [];

  add(delay: number, column: number): void {
    const whole = Math.trunc(delay);
    const row = whole < DIRECT ? this.direct[whole] : this.far.get(whole);
    this.counts[(row || this.firstRow(whole)) * COLUMNS + column] += 1;
  }

  private firstRow(delay: number): number {
    if (this.delays.length === MOST_DELAYS || !(delay >= 1)) return bucketOf(delay);
    const row = bucketStarts.length + this.delays.length;
    this.delays.push(delay);
    if (delay < DIRECT) this.direct[delay] = row;
    else this.far.set(delay, row);
    return row;
  }

  get different(): number {
    return this.delays.length;
  }

  private row(row: number): TimerCounts {
    const at = row * COLUMNS;
    return {
      created: this.counts[at + CREATED],
      cleared: this.counts[at + CLEARED],
      refreshed: this.counts[at + REFRESHED],
      fired: this.counts[at + FIRED],
    };
  }

  totals(): TimerCounts {
    const totals = { created: 0, cleared: 0, refreshed: 0, fired: 0 };
    for (let row = 0; row < bucketStarts.length + this.delays.length; row++) addTo(totals, this.row(row));
    return totals;
  }

  /** The delays with a row, those with most operations first. */
  commonest(limit: number): DelayCounts[] {
    const rows = this.delays.map((delay, at) => ({ delay, ...this.row(bucketStarts.length + at) }));
    return rows.sort((one, other) => operationsOf(other) - operationsOf(one)).slice(0, limit);
  }

  buckets(): BucketCounts[] {
    const buckets = bucketStarts.map((from, bucket) => ({ from, ...this.row(bucket) }));
    this.delays.forEach((delay, at) => {
      addTo(buckets[bucketOf(delay)], this.row(bucketStarts.length + at));
    });
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
