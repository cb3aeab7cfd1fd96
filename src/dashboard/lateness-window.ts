import type { Lateness } from '../metrics/lateness-histogram.ts';
import type { LatenessView } from './messages.ts';

/** Cumulative counts of a lateness histogram, of one client or of several. */
export interface LatenessCounts {
  /** ms, the last Infinity. */
  readonly bounds: readonly number[];
  /** By bucket, not cumulative. */
  readonly buckets: readonly number[];
  readonly sum: number;
  readonly max: number;
}

const apart = (cumulative: readonly { readonly count: number }[]): number[] =>
  cumulative.map(({ count }, at) => count - (at === 0 ? 0 : cumulative[at - 1].count));

/** Of several clients, all by the same bounds. Precondition: there is one. */
export function summed(all: readonly Lateness[]): LatenessCounts {
  const bounds = all[0].buckets.map(({ upTo }) => upTo);
  const each = all.map(({ buckets }) => apart(buckets));
  return {
    bounds,
    buckets: bounds.map((_, bucket) => each.reduce((total, buckets) => total + buckets[bucket], 0)),
    sum: all.reduce((total, { sum }) => total + sum, 0),
    max: Math.max(...all.map(({ max }) => max)),
  };
}

/** What has come since `before`. A bucket of which fewer are left, since a client has gone, counts as unchanged. */
export function between(before: LatenessCounts, after: LatenessCounts): LatenessCounts {
  const buckets = after.buckets.map((count, bucket) => Math.max(0, count - before.buckets[bucket]));
  return { ...after, buckets, sum: Math.max(0, after.sum - before.sum) };
}

/** With percentiles to the bound of a bucket: at most so late, and no later than the latest of the run. */
export function viewOf({ bounds, buckets, sum, max }: LatenessCounts): LatenessView {
  const count = buckets.reduce((total, each) => total + each, 0);
  const upTo = (share: number): number => {
    let seen = 0;
    const wanted = Math.ceil(count * share);
    if (wanted === 0) return 0;
    const bucket = buckets.findIndex((each) => {
      seen += each;
      return seen >= wanted;
    });
    return Math.min(bounds[bucket], max);
  };
  const mean = count === 0 ? 0 : sum / count;
  return {
    count,
    p50: upTo(0.5),
    p90: upTo(0.9),
    p99: upTo(0.99),
    p999: upTo(0.999),
    max: upTo(1),
    mean,
    buckets: [...buckets],
  };
}

/** The same of one client, whose histogram has finer percentiles. */
export function exactView(lateness: Lateness): LatenessView {
  const { count, p50, p90, p99, p999, max, sum } = lateness;
  return { count, p50, p90, p99, p999, max, mean: count === 0 ? 0 : sum / count, buckets: apart(lateness.buckets) };
}

/**
 * The last some cumulative counts, so that what came meanwhile can be told. `scheduler.interval()` would begin anew with each
 * reading, where each second here wants the ten before it; and it knows of one client alone.
 */
export class LatenessWindow<Counts> {
  private readonly span: number;
  private kept: { readonly at: number; readonly counts: Counts }[] = [];

  /** `span`: ms that it looks back. */
  constructor(span: number) {
    this.span = span;
  }

  /** What has come within the span, and since the counts before; undefined where there are none to compare with. */
  add(
    at: number,
    counts: Counts,
    since: (before: Counts) => LatenessView,
  ): { window: LatenessView; last: LatenessView; seconds: number } | undefined {
    // The newest that is a whole span old stays: what came since is what came within the span.
    while (this.kept.length > 1 && this.kept[1].at <= at - this.span) this.kept.shift();
    const oldest = this.kept.at(0);
    const latest = this.kept.at(-1);
    this.kept.push({ at, counts });
    if (oldest === undefined || latest === undefined) return undefined;
    return { window: since(oldest.counts), last: since(latest.counts), seconds: (at - oldest.at) / 1000 };
  }

  /** What comes next is compared with nothing. */
  clear(): void {
    this.kept = [];
  }
}
