/**
 * Counts of latenesses in buckets that widen with the value: 128 to each doubling, so that a percentile is told to
 * within 1/128 of itself from 1 µs to 2^31 µs (36 minutes; later ones count there). Recording is an increment at an
 * index computed with one clz32, which costs less than anything that is delivered.
 *
 *   µs   0 … 255       one bucket each
 *        256 … 511     buckets of 2 µs
 *        512 … 1023    buckets of 4 µs …
 *
 * The scale is that of HdrHistogram (G. Tene).
 */
const SUB_BITS = 7;
const SUB_COUNT = 2 ** SUB_BITS;
const LARGEST = 2 ** 31 - 1;
/** Doubles that a histogram's counts take. */
export const BUCKETS = (31 - SUB_BITS + 1) * SUB_COUNT;

const bucketOf = (micros: number): number => {
  const shift = Math.max(0, 31 - Math.clz32(micros) - SUB_BITS);
  return shift * SUB_COUNT + (micros >>> shift);
};

/** The largest value of a bucket, µs. */
const endOf = (bucket: number): number => {
  const shift = Math.max(0, (bucket >> SUB_BITS) - 1);
  return (bucket - shift * SUB_COUNT + 1) * 2 ** shift - 1;
};

/** Percentiles in ms: for each, a value that at least that share of deliveries did not exceed. 0 where there were none. */
export interface Lateness {
  /** Deliveries. */
  count: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
}

export class LatenessHistogram {
  count = 0;
  /** ms */
  max = 0;
  private counts: Float64Array;

  /** Over counts that another has made, `count` and `max` are to be set. */
  constructor(counts: Float64Array = new Float64Array(BUCKETS)) {
    this.counts = counts;
  }

  /** Counts in memory of its own from here on. */
  detach(): void {
    this.counts = this.counts.slice();
  }

  /** Records a lateness in ms; a negative one counts as 0. */
  record(milliseconds: number): void {
    this.counts[bucketOf(Math.max(0, Math.min(milliseconds * 1000, LARGEST)) | 0)] += 1;
    this.count += 1;
    if (milliseconds > this.max) this.max = milliseconds;
  }

  /** The least bucket end in ms that at least `share` (0..1] of the recorded values do not exceed. */
  percentile(share: number): number {
    const wanted = Math.ceil(this.count * share);
    if (wanted === 0) return 0;
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.counts[bucket];
      if (seen >= wanted) return Math.min((endOf(bucket) + 1) / 1000, this.max);
    }
    return this.max;
  }

  summary(): Lateness {
    return {
      count: this.count,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: this.max,
    };
  }
}
