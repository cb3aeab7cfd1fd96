import { expect, test } from 'vitest';
import { LatenessHistogram } from '../../src/cli/lateness-histogram.ts';

test('percentiles are never below the exact ones and at most 0.8 % (or 1 µs) above', () => {
  let checked = 0;
  for (const spread of [0.2, 3, 70, 5000, 1_000_000]) {
    const histogram = new LatenessHistogram();
    const values: number[] = [];
    for (let n = 1; n <= 4001; n++) {
      const value = ((n * 7919) % 4001) ** 2 * (spread / 4001 ** 2);
      values.push(value);
      histogram.record(value);
    }
    values.sort((a, b) => a - b);
    for (const share of [0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1]) {
      const exact = values[Math.ceil(share * values.length) - 1]!;
      const shown = histogram.percentile(share);
      expect(shown).toBeGreaterThanOrEqual(exact);
      expect(shown).toBeLessThanOrEqual(exact * 1.008 + 0.001);
      checked++;
    }
    expect(histogram.summary()).toMatchObject({ count: 4001, max: values.at(-1) });
  }
  expect(checked).toBe(35);
});

test('an empty histogram says 0, an early fire counts as 0, a huge lateness as the largest', () => {
  expect(new LatenessHistogram().summary()).toEqual({ count: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 });
  const histogram = new LatenessHistogram();
  histogram.record(-3);
  expect(histogram.summary()).toMatchObject({ count: 1, p50: 0, max: 0 });
  histogram.record(1e9);
  expect(histogram.summary()).toMatchObject({ count: 2, max: 1e9 });
});
