import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LATENESS_BOUNDS, LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';

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
  fc.constantFrom(...LATENESS_BOUNDS.slice(0, -1)),
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

  test('agrees with a list: the percentiles to within 1/32 or 1 µs, the buckets and the sum to within 0.4 %, the maximum', () => {
    fc.assert(
      fc.property(fc.array(latenesses, { minLength: 1, maxLength: 300, size: 'max' }), (values) => {
        const histogram = histogramOf(values);
        for (const share of shares) {
          const exact = exactPercentile(values, share);
          expect(histogram.percentile(share)).toBeGreaterThanOrEqual(exact);
          expect(histogram.percentile(share)).toBeLessThanOrEqual(exact + Math.max(exact / 32, 0.001) * (1 + 1e-9));
        }
        const { buckets, count, p50, p90, p99, p999, max, sum } = histogram.summary();
        expect([p50, p90, p99, p999, max]).toEqual([p50, p90, p99, p999, max].sort((one, other) => one - other));
        expect([count, max]).toEqual([values.length, Math.max(...values)]);
        const exact = values.reduce((total, value) => total + value, 0);
        const error = values.reduce((total, value) => total + Math.max(value * 0.004, 0.0005), 0) * (1 + 1e-9);
        expect(Math.abs(sum - exact)).toBeLessThanOrEqual(error);
        expect(buckets.map(({ upTo }) => upTo)).toEqual(LATENESS_BOUNDS);
        expect(buckets.at(-1)?.count).toBe(count);
        for (const { upTo, count } of buckets) {
          expect(count).toBeLessThanOrEqual(values.filter((value) => value <= upTo).length);
          expect(count).toBeGreaterThanOrEqual(values.filter((value) => value < upTo * 0.996).length);
        }
        const counts = buckets.map(({ count }) => count);
        expect(counts).toEqual([...counts].sort((one, other) => one - other));
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

  test('what is later than the range counts in its last bucket; the maximum tells it', () => {
    const histogram = histogramOf([1, 2 ** 40]);
    expect(histogram.count).toBe(2);
    expect(histogram.percentile(1)).toBe(LARGEST_MS);
    expect(histogram.summary().max).toBe(2 ** 40);
  });

  test('answers 0 where nothing was recorded, and for shares of 0', () => {
    const buckets = LATENESS_BOUNDS.map((upTo) => ({ upTo, count: 0 }));
    const nothing = { count: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0, sum: 0, buckets };
    expect(new LatenessHistogram().summary()).toEqual(nothing);
    expect([histogramOf([5]).percentile(0), histogramOf([0, 0, 0]).summary().sum]).toEqual([0, 0]);
  });

  test('its bounds rise to infinity', () => {
    expect([...LATENESS_BOUNDS]).toEqual([...new Set(LATENESS_BOUNDS)].sort((one, other) => one - other));
    expect(LATENESS_BOUNDS.at(-1)).toBe(Number.POSITIVE_INFINITY);
  });

  test('a bound that begins a fine bucket is told exactly, and one within a fine bucket leaves that one out', () => {
    const [half, one, two, five] = histogramOf([0.499, 0.5, 0.999, 1, 1.999, 2, 4.991, 4.993, 5]).summary().buckets;
    expect([half.count, one.count, two.count, five.count]).toEqual([1, 3, 5, 7]);
  });

  test('what was recorded since a copy is what a histogram of that alone has, the maximum to within a bucket', () => {
    fc.assert(
      fc.property(fc.array(fc.array(latenesses, { maxLength: 50 }), { maxLength: 5 }), (rounds) => {
        const histogram = histogramOf([3, 700]);
        const copy = histogram.copy();
        for (const values of rounds) {
          for (const value of values) histogram.record(value);
          const { max, sum, ...since } = histogram.since(copy).summary();
          const alone = histogramOf(values).summary();
          expect(since.count).toBe(values.length);
          expect(since.buckets).toEqual(alone.buckets);
          expect(Math.abs(sum - alone.sum)).toBeLessThanOrEqual(alone.sum * 0.01 + 0.001 * values.length);
          expect(max).toBeGreaterThanOrEqual(alone.max);
          expect(max).toBeLessThanOrEqual(alone.max * (1 + 1 / 128) + 0.001 * (1 + 1e-9));
          for (const name of ['p50', 'p90', 'p99', 'p999'] as const) {
            expect(since[name]).toBeGreaterThanOrEqual(alone[name]);
            expect(since[name]).toBeLessThanOrEqual(max);
          }
        }
      }),
    );
  });
});
