import type { Lateness } from '../metrics/lateness-histogram.ts';
import type { LatenessView } from './messages.ts';

/** Cumulative counts of a lateness histogram, of one client or of several. */
export interface LatenessCounts {
  /** In ms, the last Infinity. */
  readonly bounds: readonly number[];
  /** By bucket, not cumulative. */
  readonly buckets: readonly number[];
  readonly sum: number;
  readonly max: number;
}

const apart = (cumulative: readonly { readonly count: number }[]): number[] =>
  cumulative.map(({ count }, at) => count - (at === 0 ? 0 : cumulative[at - 1].count));

/** Sums the counts of several clients, which have the same bounds. Precondition: there is at least one. */
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

/** Returns the counts since `before`. If a bucket has fallen because a client has left, it counts as unchanged. */
export function between(before: LatenessCounts, after: LatenessCounts): LatenessCounts {
  const buckets = after.buckets.map((count, bucket) => Math.max(0, count - before.buckets[bucket]));
  return { ...after, buckets, sum: Math.max(0, after.sum - before.sum) };
}

/** The view with percentiles rounded up to the bound of a bucket, but at most the maximum of the run. */
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

/** The view of one client, whose histogram has finer percentiles. */
export function exactView(lateness: Lateness): LatenessView {
  const { count, p50, p90, p99, p999, max, sum } = lateness;
  return { count, p50, p90, p99, p999, max, mean: count === 0 ? 0 : sum / count, buckets: apart(lateness.buckets) };
}

/**
 * The latest cumulative counts, for differences between them. `scheduler.interval()` would start again with each reading, but
 * here each second needs the ten before it; and it knows only one client.
 */
export class LatenessWindow<Counts> {
  private readonly span: number;
  private kept: { readonly at: number; readonly counts: Counts }[] = [];

  /** `span`: the length of the window in ms. */
  constructor(span: number) {
    this.span = span;
  }

  /** Returns the counts within the span, and those since the last reading; undefined if there is none to compare with. */
  add(
    at: number,
    counts: Counts,
    since: (before: Counts) => LatenessView,
  ): { window: LatenessView; last: LatenessView; seconds: number } | undefined {
    // Keeps the newest one that is a whole span old: the counts since then are those within the span.
    while (this.kept.length > 1 && this.kept[1].at <= at - this.span) this.kept.shift();
    const oldest = this.kept.at(0);
    const latest = this.kept.at(-1);
    this.kept.push({ at, counts });
    if (oldest === undefined || latest === undefined) return undefined;
    return { window: since(oldest.counts), last: since(latest.counts), seconds: (at - oldest.at) / 1000 };
  }

  /** Forgets all: the next counts have nothing to compare with. */
  clear(): void {
    this.kept = [];
  }
}
