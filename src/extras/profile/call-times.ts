import type { CallTimes } from './profile-data.ts';

/** Number of samples that are kept: the latest. */
const MAX_SAMPLES = 1024;
/**
 * The share of the kept samples that is left out at either end. Very long ones were interrupted, by the machine or by a
 * collection.
 */
const TRIMMED = 0.1;
const { now } = performance;
export const clock: () => number = now.bind(performance);

/**
 * The cost of calls, from samples. The clock is read twice before a sampled call and once after it. The difference of
 * the first two is the cost of a reading at that place, where neither the reading nor the call is in the processor's
 * caches.
 */
export class SampledTimes {
  private readonly latest = new Float64Array(MAX_SAMPLES);
  private samples = 0;

  /** Three readings in ms; the call was between the last two. */
  add(first: number, second: number, third: number): void {
    this.latest[this.samples % MAX_SAMPLES] = third - second - (second - first);
    this.samples += 1;
  }

  times(): CallTimes {
    const { samples } = this;
    const sorted = this.latest.slice(0, Math.min(samples, MAX_SAMPLES)).sort();
    const trimmed = Math.floor(sorted.length * TRIMMED);
    const kept = sorted.subarray(trimmed, sorted.length - trimmed);
    const mean = kept.reduce((sum, time) => sum + time, 0) / Math.max(kept.length, 1);
    return { samples, ns: Math.max(0, mean) * 1e6 };
  }
}
