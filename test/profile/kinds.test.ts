import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { profile, programOf } from './profile-program.ts';

const { code, report, stdout } = await profile(programOf('kinds.mjs'));
const { data } = report.loops[0];

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
  expect(code).toBe(0);
  expect(data.totals).toEqual({ created: 31, cleared: 12, refreshed: 3, fired: 27 });
  expect(data.kinds).toEqual({ timeouts: 22, intervals: 1, promises: 8 });
});

test('clears in vain count apart: of what was cleared, and of what was never a timer', () => {
  expect([data.needlessClears, data.live]).toEqual([2, 1]);
});

test('each delay has its bucket, each timer that fires its lateness, and passes have called them', () => {
  expect(data.buckets.reduce((sum, { created }) => sum + created, 0)).toBe(31);
  expect(data.differentDelays).toBe(data.delays.length);
  expect(data.peak.live).toBeGreaterThan(5);
  expect(data.latenessBuckets.reduce((sum, each) => sum + each, 0)).toBe(data.totals.fired);
  expect(data.lateness.count).toBe(data.totals.fired);
  expect(data.lateness.max).toBeGreaterThanOrEqual(data.lateness.p99);
  expect(data.passes.count).toBeGreaterThan(1);
  expect(data.passes.longest.fired).toBeGreaterThan(0);
});

test('the places that set timers are named, and what became of these', () => {
  const lines = readFileSync(programOf('kinds.mjs'), 'utf8').split('\n');
  const siteOf = (text: string) => {
    const line = lines.findIndex((each) => each.startsWith(text)) + 1;
    return data.sites.find(({ site }) => site.endsWith(`kinds.mjs:${line}`));
  };
  expect(siteOf('const set =')).toMatchObject({ delay: 10_004, created: 8, cleared: 8, fired: 0 });
  expect(siteOf('const moved =')).toMatchObject({ delay: 106, created: 1, refreshed: 2, fired: 1 }); // until it fires
  expect(siteOf('for (const delay of')).toMatchObject({ delay: 1, created: 5, cleared: 0, fired: 5 });
});

test('all of it is shown in the terminal', () => {
  expect(stdout).toMatch(/31 created, 12 cleared, 3 refreshed, 27 fired/);
  expect(stdout).toMatch(/│ +10 s │ +8 │ +8 │ +0 │ +0 │/);
  expect(stdout).toMatch(/kinds\.mjs:\d+/);
});
