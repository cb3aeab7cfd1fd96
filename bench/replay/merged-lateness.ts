import { BUCKETS, type Lateness, LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

/** Percentiles over what several histograms have counted; `max`: the largest of theirs. */
export function mergedLateness(histograms: readonly Float64Array[], max: number): Lateness {
  const counts = new Float64Array(BUCKETS);
  for (const histogram of histograms) for (const [bucket, count] of histogram.entries()) counts[bucket]! += count;
  const merged = new LatenessHistogram(counts);
  merged.count = counts.reduce((sum, count) => sum + count, 0);
  merged.max = max;
  return merged.summary();
}
