import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

const shares = [0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1];
const LARGEST_MS = 2 ** 31 / 1000;

function histogramOf(values: readonly number[]): LatenessHistogram {
  const histogram = new LatenessHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

/** The value that at least this share of the values does not exceed, by sorting them. */
function exactPercentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil(values.length * share) - 1];
}

const latenesses = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.double({ min: 0, max: 1000, noNaN: true }),
  fc.double({ min: 0, max: LARGEST_MS, maxExcluded: true, noNaN: true }),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((micros) => micros / 1000),
);

describe('LatenessHistogram', () => {
  test('a negative lateness counts as 0', () => {
    const histogram = new LatenessHistogram();
    histogram.record(-3);
    expect(histogram.summary()).toMatchObject({ count: 1, p50: 0, max: 0 });
  });

  test('a percentile is at least the exact one, and within 1/32 of it or 1 µs', () => {
    fc.assert(
      fc.property(fc.array(latenesses, { minLength: 1, maxLength: 300, size: 'max' }), (values) => {
        const histogram = histogramOf(values);
        for (const share of shares) {
          const exact = exactPercentile(values, share);
          expect(histogram.percentile(share)).toBeGreaterThanOrEqual(exact);
          expect(histogram.percentile(share)).toBeLessThanOrEqual(exact + Math.max(exact / 32, 0.001) * (1 + 1e-9));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('every bucket of the whole range is told to within its width', () => {
    let count = 0;
    for (let micros = 0; micros < 2 ** 31; micros = Math.max(micros + 1, Math.floor(micros * 1.003))) {
      const histogram = histogramOf([micros / 1000, 2 ** 40]); // the second keeps the maximum out of the way
      const told = histogram.percentile(0.5) * 1000;
      expect(told).toBeGreaterThan(micros);
      expect(told).toBeLessThanOrEqual(micros + Math.max(1, micros / 32) + 1e-6 * micros);
      count += 1;
    }
    expect(count).toBeGreaterThan(4000);
  });

  test('percentiles rise with their share, and none exceeds the maximum, which is exact', () => {
    fc.assert(
      fc.property(fc.array(latenesses, { minLength: 1 }), (values) => {
        const { p50, p90, p99, p999, max } = histogramOf(values).summary();
        expect([p50, p90, p99, p999, max]).toEqual([p50, p90, p99, p999, max].sort((one, other) => one - other));
        expect(max).toBe(Math.max(...values));
      }),
    );
  });

  test('what is later than the range counts in its last bucket; the maximum tells it', () => {
    const histogram = histogramOf([1, 2 ** 40]);
    expect(histogram.count).toBe(2);
    expect(histogram.percentile(1)).toBe(LARGEST_MS);
    expect(histogram.summary().max).toBe(2 ** 40);
  });

  test('answers 0 where nothing was recorded, and for shares of 0', () => {
    expect(new LatenessHistogram().summary()).toEqual({ count: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 });
    expect(histogramOf([5]).percentile(0)).toBe(0);
  });
});
