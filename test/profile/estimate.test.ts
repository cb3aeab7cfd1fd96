import { describe, expect, test } from 'vitest';
import type { Estimate } from '../../src/extras/profile/report-data.ts';
import { estimateOf, verdictOf } from '../../tools/cli/profile/estimate.ts';
import { exampleCosts, exampleData } from './example-data.ts';

describe('the estimate', () => {
  test('is calls by their samples, firing by its measured cost, each at the ratio of the two costs', () => {
    const estimate = estimateOf(exampleData(), exampleCosts) as Estimate;
    // 100,000 × 500 ns + 90,000 × 100 ns of 1000 ms; 10,000 × 400 ns
    expect(estimate.calls).toBeCloseTo(0.059, 9);
    expect(estimate.firing).toBeCloseTo(0.004, 9);
    expect(estimate.young).toBe(0);
    expect(estimate.withShardwheel).toBeCloseTo(0.059 / 2 + 0.001, 9);
  });

  test('takes timers that are cleared within 4 ms at the cost of such', () => {
    const data = exampleData({ lifetimes: [20, 20, 10, 25, 25] });
    const { young, withShardwheel } = estimateOf(data, exampleCosts) as Estimate;
    expect(young).toBe(0.5);
    expect(withShardwheel).toBeCloseTo(0.059 * (60 / 150) + 0.001, 9);
  });

  test('counts refreshes, and clears that were in vain', () => {
    const calls = { ...exampleData().calls, refresh: { samples: 9, ns: 300 } };
    const totals = { created: 0, cleared: 0, refreshed: 100_000, fired: 0 };
    const estimate = estimateOf(exampleData({ calls, totals, needlessClears: 50_000 }), exampleCosts) as Estimate;
    expect(estimate.calls).toBeCloseTo(0.03 + 0.005, 9);
    expect(estimate.withShardwheel).toBeCloseTo(0.015 + 0.0025, 9);
  });

  test('gives timers no more than all of the busy time', () => {
    const calls = { ...exampleData().calls, create: { samples: 9, ns: 30_000 } };
    const estimate = estimateOf(exampleData({ calls }), exampleCosts) as Estimate;
    expect(estimate.calls + estimate.firing).toBeCloseTo(1, 9);
    expect(estimate.withShardwheel).toBeCloseTo((0.5 * 3.009 + 0.001) / 3.013, 9);
  });

  test('is none where the loop was busy for too short a time', () => {
    expect(estimateOf(exampleData({ busy: 19 }), exampleCosts)).toBeUndefined();
  });
});

describe('the verdict', () => {
  const estimated = (calls: number, withShardwheel: number) => ({ calls, withShardwheel, firing: 0, young: 0 });
  const unused = { created: 0, cleared: 0, refreshed: 0, fired: 0 };
  const longPass = { count: 9, milliseconds: 90, longest: { milliseconds: 60, fired: 20_000, at: 1 } };

  test.each([
    ['no timer was set', exampleData({ totals: unused }), undefined, 'none'],
    ['timers take less than a hundredth', exampleData(), estimated(0.009, 0), 'none'],
    ['shardwheel would gain less than a hundredth', exampleData(), estimated(0.2, 0.195), 'none'],
    ['shardwheel would be dearer', exampleData(), estimated(0.05, 0.09), 'none'],
    ['the loop was hardly busy', exampleData({ busy: 99 }), estimated(0.5, 0.1), 'none'],
    ['the gain is below two hundredths', exampleData(), estimated(0.05, 0.035), 'little'],
    ['the gain is more', exampleData(), estimated(0.2, 0.08), 'gain'],
    ['one pass was long for its callbacks', exampleData({ passes: longPass }), estimated(0.001, 0.001), 'passes'],
    ['so it was in a loop that was hardly busy', exampleData({ busy: 90, passes: longPass }), undefined, 'passes'],
    ['nothing was measured', exampleData(), undefined, 'unknown'],
  ])('where %s', (_, data, estimate, need) => {
    const verdict = verdictOf(data, estimate);
    expect(verdict.need).toBe(need);
    expect(verdict.headline === 'You do not need shardwheel').toBe(need === 'none');
    expect(verdict.reason).not.toBe('');
  });

  test('is not that passes are long where one callback took its time', () => {
    const longest = { milliseconds: 900, fired: 3, at: 1 };
    expect(verdictOf(exampleData({ passes: { ...longPass, longest } }), estimated(0.001, 0)).need).toBe('none');
  });

  test('says how much, and of what', () => {
    expect(verdictOf(exampleData(), estimated(0.2, 0.08))).toMatchObject({
      headline: "shardwheel would free about 12 % of this event loop's busy time",
      reason: "Timers take 20 % of this event loop's busy time; with shardwheel it would be about 8.0 %.",
    });
  });

  test('of a short program is not that its loop idles', () => {
    expect(verdictOf(exampleData({ seconds: 1.5, busy: 10 }), undefined).need).toBe('unknown');
  });
});
