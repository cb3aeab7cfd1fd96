import { expect, test } from 'vitest';
import {
  between,
  exactView,
  type LatenessCounts,
  LatenessWindow,
  summed,
  viewOf,
} from '../../src/dashboard/lateness-window.ts';
import { LATENESS_BOUNDS, LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

/** What a window of several clients' counts has. */
const add = (window: LatenessWindow<LatenessCounts>, at: number, counts: LatenessCounts) =>
  window.add(at, counts, (before) => viewOf(between(before, counts)));

const bucketOf = (lateness: number): number => LATENESS_BOUNDS.findIndex((bound) => lateness <= bound);

/** The least bound that a share of the latenesses does not exceed, by sorting. */
function dumbPercentile(latenesses: readonly number[], share: number): number {
  const sorted = [...latenesses].sort((a, b) => a - b);
  return LATENESS_BOUNDS[bucketOf(sorted[Math.ceil(sorted.length * share) - 1])];
}

test(`the last ten seconds are those of a list, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const histogram = new LatenessHistogram();
  const window = new LatenessWindow<LatenessCounts>(10_000);
  const all: { at: number; lateness: number }[] = [];
  let looks = 0;
  let before: number[] = [];
  for (let second = 0; second < 40; second++) {
    const at = second * 1000;
    const found = add(window, at, summed([histogram.summary()]));
    if (second > 0) {
      const since = Math.max(0, at - 10_000);
      const recent = all.filter((each) => each.at >= since).map(({ lateness }) => lateness);
      expect([found?.window.count, found?.last.count, found?.seconds]).toEqual([
        recent.length,
        before.length,
        (at - since) / 1000,
      ]);
      const counts = LATENESS_BOUNDS.map(
        (_, bucket) => recent.filter((lateness) => bucketOf(lateness) === bucket).length,
      );
      expect(found?.window.buckets).toEqual(counts);
      for (const [name, share] of [
        ['p50', 0.5],
        ['p90', 0.9],
        ['p99', 0.99],
      ] as const) {
        expect(found?.window[name]).toBe(
          recent.length === 0 ? 0 : Math.min(dumbPercentile(recent, share), histogram.max),
        );
      }
      looks += 1;
    } else expect(found).toBeUndefined();
    before = Array.from({ length: draws.below(200) }, () => {
      const span = draws.pick([0.4, 3, 900]);
      // Not at a bound, where the histogram counts a thousandth more or less.
      let lateness = draws.between(0, span);
      while (LATENESS_BOUNDS.some((bound) => Math.abs(lateness - bound) < bound * 0.01))
        lateness = draws.between(0, span);
      return lateness;
    });
    for (const lateness of before) {
      histogram.record(lateness);
      all.push({ at, lateness });
    }
  }
  expect(looks).toBe(39);
});

test('what is cleared is compared with nothing', () => {
  const histogram = new LatenessHistogram();
  const window = new LatenessWindow<LatenessCounts>(1000);
  add(window, 0, summed([histogram.summary()]));
  window.clear();
  expect(add(window, 1000, summed([histogram.summary()]))).toBeUndefined();
});

test('several clients are summed, and one that goes leaves no negative count', () => {
  const [one, other] = [new LatenessHistogram(), new LatenessHistogram()];
  for (let i = 0; i < 10; i++) one.record(0.3);
  for (let i = 0; i < 5; i++) other.record(30);
  const both = summed([one.summary(), other.summary()]);
  expect(viewOf(both)).toMatchObject({ count: 15, p50: 0.5, p90: 30, max: 30 });
  const window = new LatenessWindow<LatenessCounts>(1000);
  add(window, 0, both);
  one.record(3);
  const left = add(window, 500, summed([one.summary()]));
  expect(left?.window).toMatchObject({ count: 1, p50: 3 });
  expect(left?.window.buckets.every((count) => count >= 0)).toBe(true);
});

test('of one client the run has the percentiles of its histogram', () => {
  const histogram = new LatenessHistogram();
  for (let i = 1; i <= 100; i++) histogram.record(i / 10);
  const { p50, p99, sum } = histogram.summary();
  expect(exactView(histogram.summary())).toMatchObject({ count: 100, p50, p99, mean: sum / 100 });
  expect(exactView(new LatenessHistogram().summary())).toMatchObject({ count: 0, mean: 0, p50: 0 });
});

test('of one client also the last seconds have them', () => {
  const histogram = new LatenessHistogram();
  const window = new LatenessWindow<Float64Array>(2000);
  const look = (at: number) =>
    window.add(at, histogram.copy(), (before) => exactView(histogram.since(before.slice()).summary()));
  for (let i = 1; i <= 100; i++) histogram.record(i);
  look(0);
  for (const at of [1000, 2000, 3000]) {
    for (let i = 1; i <= 100; i++) histogram.record(at / 1000 + i / 100);
    look(at);
  }
  histogram.record(33.3);
  const found = look(4000);
  expect([found?.last.count, found?.window.count, found?.seconds]).toEqual([1, 101, 2]);
  expect(found?.last.p50).toBeGreaterThan(33.2);
  expect(found?.last.p50).toBeLessThan(33.6);
  expect(found?.window.p50).toBeGreaterThan(3.49);
  expect(found?.window.p50).toBeLessThan(3.53);
});
