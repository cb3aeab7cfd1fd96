import { ownDoubles } from '../memory/own-words.ts';

// Taken once: a program may replace them.
const { ceil, clz32, max, min } = Math;

/**
 * Counts of latenesses in buckets that widen with the value: 128 to each doubling, so a percentile is accurate to
 * 1/128 of itself from 1 µs to 2^31 µs (36 minutes; larger ones count there). Recording is an increment at an
 * index computed with one clz32, which costs less than any delivery.
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
/** Number of doubles for a histogram's counts. @internal */
export const BUCKETS = (31 - SUB_BITS + 1) * SUB_COUNT;

const bucketOf = (micros: number): number => {
  const shift = max(0, 31 - clz32(micros) - SUB_BITS);
  return shift * SUB_COUNT + (micros >>> shift);
};

/** The smallest value of a bucket in µs. Its latenesses are below the start of the next bucket. */
const startOf = (bucket: number): number => {
  const shift = max(0, (bucket >> SUB_BITS) - 1);
  return (bucket - shift * SUB_COUNT) * 2 ** shift;
};

/** Bounds of `Lateness.buckets`, ms. */
export const LATENESS_BOUNDS: readonly number[] = [
  0.5,
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1000,
  2000,
  5000,
  10_000,
  60_000,
  Number.POSITIVE_INFINITY,
];

/** For each bound, the first bucket that is not entirely within it. */
const BOUND_BUCKETS = LATENESS_BOUNDS.map((bound) => (bound * 1000 > LARGEST ? BUCKETS : bucketOf(bound * 1000)));

const SHARES = [0.5, 0.9, 0.99, 0.999];

/** How many deliveries were at most `upTo` ms late. */
export interface LatenessBucket {
  /** In ms; Infinity for all. */
  upTo: number;
  /** Never too high. It includes every delivery that was less than 99.6 % of `upTo` late. */
  count: number;
}

/** Percentiles in ms: at least this share of deliveries did not exceed the value. 0 without deliveries. */
export interface Lateness {
  /** Deliveries. */
  count: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  /**
   * The sum of all latenesses in ms, from the middles of the histogram's buckets. Each delivery is off by at most 0.4 %
   * or 0.5 µs, whichever is larger, and counts as 36 minutes at most.
   */
  sum: number;
  /** Cumulative, by rising bounds: of 0.5, 1, 2, 5, 10 … ms, 1 minute and Infinity. */
  buckets: readonly LatenessBucket[];
}

/** @internal */
export class LatenessHistogram {
  count = 0;
  /** ms */
  max = 0;
  private counts: Float64Array;

  /** Reads counts made elsewhere; then `count` and `max` must be set. */
  constructor(counts: Float64Array = ownDoubles(BUCKETS)) {
    this.counts = counts;
  }

  /** Moves the counts to separate memory. */
  detach(): void {
    this.counts = this.counts.slice();
  }

  /** Records a lateness in ms; a negative one counts as 0. */
  record(milliseconds: number): void {
    const micros = max(0, min(milliseconds * 1000, LARGEST)) | 0;
    const shift = max(0, 31 - clz32(micros) - SUB_BITS);
    this.counts[shift * SUB_COUNT + (micros >>> shift)] += 1; // as bucketOf: V8, short paths
    this.count += 1;
    if (milliseconds > this.max) this.max = milliseconds;
  }

  /** The smallest bucket end in ms that at least `share` (0..1] of the recorded values do not exceed. */
  percentile(share: number): number {
    return this.read([share]).percentiles[0];
  }

  summary(): Lateness {
    const { count, max } = this;
    const { percentiles, sum, buckets } = this.read(SHARES);
    const [p50, p90, p99, p999] = percentiles;
    return { count, p50, p90, p99, p999, max, sum, buckets };
  }

  /** Reads the counts once, up to the last: some µs at most. `shares` rise. */
  private read(shares: readonly number[]): { percentiles: number[]; sum: number; buckets: LatenessBucket[] } {
    const { count, counts, max } = this;
    const percentiles = shares.map(() => 0);
    const buckets = LATENESS_BOUNDS.map((upTo) => ({ upTo, count }));
    let share = 0;
    let bound = 0;
    let seen = 0;
    let sum = 0;
    while (share < shares.length && ceil(count * shares[share]) === 0) share += 1;
    for (let bucket = 0; bucket < BUCKETS && seen < count; bucket++) {
      const more = counts[bucket];
      if (more === 0) continue;
      for (; bucket >= BOUND_BUCKETS[bound]; bound++) buckets[bound].count = seen;
      seen += more;
      const end = startOf(bucket + 1);
      sum += (more * (startOf(bucket) + end)) / 2;
      for (; share < shares.length && seen >= ceil(count * shares[share]); share++) {
        percentiles[share] = min(end / 1000, max);
      }
    }
    percentiles.fill(max, share);
    return { percentiles, sum: min(sum / 1000, count * max), buckets };
  }

  /** Returns what was recorded since `before` was made or last passed here, and updates `before`. */
  since(before: Float64Array): LatenessHistogram {
    const { counts } = this;
    const recorded = new LatenessHistogram();
    let last = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const more = counts[bucket] - before[bucket];
      if (more === 0) continue;
      before[bucket] = counts[bucket];
      recorded.counts[bucket] = more;
      recorded.count += more;
      last = bucket;
    }
    const isEndKnown = last + 1 < BUCKETS;
    if (recorded.count > 0) recorded.max = isEndKnown ? min(startOf(last + 1) / 1000, this.max) : this.max;
    return recorded;
  }

  /** The buckets that are not empty, each with its count: small, to be sent to another thread. */
  sparse(): number[] {
    const { count, counts } = this;
    const pairs: number[] = [];
    for (let bucket = 0, seen = 0; bucket < BUCKETS && seen < count; bucket++) {
      if (counts[bucket] === 0) continue;
      seen += counts[bucket];
      pairs.push(bucket, counts[bucket]);
    }
    return pairs;
  }

  /** Adds what another histogram has recorded: its buckets as from `sparse`, and its maximum in ms. */
  add(pairs: readonly number[], largest: number): void {
    for (let at = 0; at < pairs.length; at += 2) {
      this.counts[pairs[at]] += pairs[at + 1];
      this.count += pairs[at + 1];
    }
    this.max = max(this.max, largest);
  }

  /** A copy of the counts, for `since`. */
  copy(): Float64Array {
    return this.counts.slice();
  }
}
