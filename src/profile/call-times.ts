import type { CallTimes } from './profile-data.ts';

/** Samples that are kept: the latest. */
const KEPT = 1024;
/** Of the kept: what is left out at either end. What takes very long was interrupted, by the machine or by a collection. */
const TRIMMED = 0.1;
const { now } = performance;
export const clock: () => number = now.bind(performance);

/**
 * What calls cost, from samples. Two readings of the clock stand before a sampled call and one after it: what lies between the
 * first two is what a reading takes just there, where neither it nor the call is in the processor's caches.
 */
export class SampledTimes {
  private readonly latest = new Float64Array(KEPT);
  private samples = 0;

  /** Three readings, ms; the call lay between the last two. */
  add(first: number, second: number, third: number): void {
    this.latest[this.samples % KEPT] = third - second - (second - first);
    this.samples += 1;
  }

  times(): CallTimes {
    const { samples } = this;
    const sorted = this.latest.slice(0, Math.min(samples, KEPT)).sort();
    const trimmed = Math.floor(sorted.length * TRIMMED);
    const kept = sorted.subarray(trimmed, sorted.length - trimmed);
    const mean = kept.reduce((sum, time) => sum + time, 0) / Math.max(kept.length, 1);
    return { samples, ns: Math.max(0, mean) * 1e6 };
  }
}
