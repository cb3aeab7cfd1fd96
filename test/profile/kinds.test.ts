import { beforeAll, expect, test } from 'vitest';
import type { ProfileData } from '../../src/profile/profile-data.ts';
import { profile, programOf } from './profile-program.ts';

let data: ProfileData;

beforeAll(async () => {
  const { code, report } = await profile(programOf('kinds.mjs'));
  expect(code).toBe(0);
  ({ data } = report.loops[0]);
}, 60_000);

/** Created, cleared, refreshed, fired. */
const countsOf = (delay: number): number[] => {
  const { created, cleared, refreshed, fired } = data.delays.find((row) => row.delay === delay) ?? {};
  return [created, cleared, refreshed, fired].map((count) => count ?? 0);
};

test.each<[what: string, delay: number, counts: number[]]>([
  ['setTimeout counts however it is reached', 101, [6, 0, 0, 6]],
  ['promises count, and that one of them was aborted', 102, [4, 1, 0, 3]],
  ['an interval is one timer and fires with each call, one of promises as well', 103, [2, 2, 0, 8]],
  ['every way to clear a timer counts as one', 10_004, [8, 8, 0, 0]],
  ['what is cleared twice counts once', 10_005, [1, 1, 0, 0]],
  ['a timer that is refreshed after it has fired fires again', 106, [1, 0, 3, 2]],
  ['a delay that is none is 1 ms', 1, [5, 0, 0, 5]],
  ['a timer without a hold on the process is live to the end', 10_007, [1, 0, 0, 0]],
])('%s', (_, delay, counts) => {
  expect(countsOf(delay)).toEqual(counts);
});

test('immediates and microtasks are no timers', () => {
  expect(data.totals).toEqual({ created: 31, cleared: 12, refreshed: 3, fired: 27 });
  expect(data.kinds).toEqual({ timeouts: 22, intervals: 1, promises: 8 });
});

test('clears in vain count apart: of what was cleared, and of what was never a timer', () => {
  expect([data.needlessClears, data.live]).toEqual([2, 1]);
});
