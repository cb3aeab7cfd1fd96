import { describe, expect, test, vi } from 'vitest';
import { DelayCounters, operationsOf } from '../../src/extras/profile/delay-counts.ts';
import { Series } from '../../src/extras/profile/recorder.ts';
import { Sampler } from '../../src/extras/profile/sampler.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

describe('counts by delay', () => {
  test('are exact for the first thousand delays, and by range for the others', () => {
    const counters = new DelayCounters();
    for (let delay = 1; delay <= 1500; delay++) counters.of(delay).created += 1;
    for (let time = 0; time < 7; time++) counters.of(1200).fired += 1;
    expect(counters.different).toBe(1000);
    expect(counters.totals()).toEqual({ created: 1500, cleared: 0, refreshed: 0, fired: 7 });
    expect(counters.commonest(2000)).toHaveLength(1000);
    const bucketFrom = (ms: number) => counters.buckets().find(({ from }) => from === ms);
    expect(bucketFrom(1000)).toEqual({ from: 1000, created: 501, cleared: 0, refreshed: 0, fired: 7 });
    expect(bucketFrom(500)).toMatchObject({ created: 500 });
  });

  test('are by whole ms, those with most operations first, each in its bucket', () => {
    const counters = new DelayCounters();
    const delays = [1, 2.5, 30, 65_536, 2 ** 31 - 1];
    for (const [at, delay] of delays.entries()) {
      counters.of(delay).cleared += at;
      counters.of(delay).refreshed += 1;
    }
    const rows = counters.commonest(1000).map(({ delay, cleared }) => [delay, cleared]);
    expect(rows).toEqual(delays.map((delay, at) => [Math.trunc(delay), at]).reverse());
    const buckets = counters.buckets().filter((bucket) => operationsOf(bucket) > 0);
    expect(buckets.map(({ from, cleared }) => [from, cleared])).toEqual([
      [1, 0],
      [2, 1],
      [20, 2],
      [50_000, 3],
      [1e9, 4],
    ]);
  });
});

describe('a sampler', () => {
  /** Calls until each sample, as its users count; the weights of those that were taken. */
  function sampled(sampler: Sampler, calls: number): number[] {
    const weights: number[] = [];
    for (let call = 0; call < calls; call++) {
      sampler.left -= 1;
      if (sampler.left <= 0) weights.push(sampler.take());
    }
    return weights;
  }

  test('takes every call up to its budget, then ever fewer, and their weights add up to the calls', () => {
    const draws = new Draws(SEED);
    const random = vi.spyOn(Math, 'random').mockImplementation(() => draws.between(0, 1));
    try {
      const [samplers, calls] = [60, 20_000];
      let sum = 0;
      for (let each = 0; each < samplers; each++) {
        const weights = sampled(new Sampler(200), calls);
        expect(weights.slice(0, 200).every((weight) => weight === 1)).toBe(true);
        expect(weights.length).toBeLessThan(200 * 9);
        sum += weights.reduce((total, weight) => total + weight, 0);
      }
      // The spread of one sampler's sum is 4 %, so that of these is half of one.
      expect(Math.abs(sum / (samplers * calls) - 1), `seed ${SEED}`).toBeLessThan(0.04);
    } finally {
      random.mockRestore();
    }
  });

  test('takes the first ones each, whatever its budget, and from then on keeps to that', () => {
    const sampler = new Sampler(10, 300);
    expect(sampled(sampler, 300)).toEqual(new Array(300).fill(1));
    // At steps of 2, 4, … 2^11: 10 of each.
    const weights = sampled(sampler, 40_000);
    expect(weights.length).toBeLessThan(150);
    expect(weights.filter((weight) => weight === 2)).toHaveLength(10);
  });

  test('does not lose those of the first that are left when a second has passed', () => {
    const sampler = new Sampler(10, 300);
    sampled(sampler, 20);
    sampler.renew(4);
    expect(sampled(sampler, 280)).toEqual(new Array(280).fill(1));
    expect(Math.max(...sampled(sampler, 100))).toBeGreaterThan(2);
  });

  test('takes more of them again once a second has had few', () => {
    const sampler = new Sampler(50);
    sampled(sampler, 10_000);
    for (let second = 0; second < 20; second++) sampler.renew();
    sampler.left = 1;
    expect(sampled(sampler, 20).at(-1)).toBe(1);
  });
});

describe('the series', () => {
  const none = { busy: 0, cleared: 0, refreshed: 0, fired: 0 };
  const point = (at: number, pass: number) => ({ ...none, at, pass, live: at, created: at });

  test.each([1, 479, 480, 481, 5000, 100_000])(
    'of %i points has at most 480, in order, and the longest pass',
    (points) => {
      const series = new Series();
      const longest = Math.floor(points / 2);
      for (let at = 0; at < points; at++) series.add(point(at, at === longest ? 99 : 1));
      const all = series.all();
      expect(all.length).toBeLessThanOrEqual(480);
      expect(all.length).toBeGreaterThanOrEqual(Math.min(points, 239));
      const times = all.map(({ at }) => at);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      expect(Math.max(...all.map(({ pass }) => pass))).toBe(99);
    },
  );
});
