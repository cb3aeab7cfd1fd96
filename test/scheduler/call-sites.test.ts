import { createScheduler, createTimers, InvalidConfigError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { CallSites, MAX_SITES } from '../../src/client/call-sites.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

describe('callSites()', () => {
  test('names the places that schedule, and how many of their timers live', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64, trace: { sample: 1 } });
    const armIdle = () => scheduler.scheduleAfter(1, 1000);
    const armRequest = () => scheduler.label('request').schedule(1, 10, () => undefined);
    const group = scheduler.group(7);
    for (let i = 0; i < 5; i++) armIdle();
    for (let i = 0; i < 3; i++) armRequest();
    group.schedule(2000);
    await scheduler.advanceTo(20);
    const sites = scheduler.callSites();
    expect(sites.map(({ scheduled, live }) => ({ scheduled, live }))).toEqual([
      { scheduled: 5, live: 5 },
      { scheduled: 1, live: 1 },
      { scheduled: 3, live: 0 },
    ]);
    expect(sites[0].site).toMatch(/^armIdle \(.*call-sites\.test\.ts:\d+:\d+\)$/);
    expect(sites[2].site).toMatch(/^armRequest \(/);
    expect(sites[0].stack[0]).toBe(sites[0].site);
    expect(sites[0].stack.length).toBeGreaterThan(1);
    for (const { stack } of sites) for (const frame of stack) expect(frame).not.toMatch(/client|timer-calls/);
  });

  test(`estimates what a sample stands for, seed ${SEED}`, () => {
    const draws = new Draws(SEED);
    const ended = new Set<number>();
    const sites = new CallSites(
      0.01,
      (id) => !ended.has(id),
      () => draws.between(0, 1),
    );
    let id = 0;
    const lane = { table: { idOf: () => id } } as never;
    const count = (): void => {
      id += 1;
      sites.count(lane, 0);
    };
    for (let i = 0; i < 300_000; i++) count();
    for (let each = 1; each <= 100_000; each++) ended.add(each);
    const [{ scheduled, live }] = sites.all();
    // 3,000 samples: a deviation of 5 standard deviations is 9 %
    expect(scheduled).toBeGreaterThan(273_000);
    expect(scheduled).toBeLessThan(327_000);
    expect(live).toBeGreaterThan(178_000);
    expect(live).toBeLessThan(222_000);
  });

  test('keeps a bounded number of sites apart', () => {
    const sites = new CallSites(1, () => true);
    const lane = { table: { idOf: () => 0 } } as never;
    for (let i = 0; i < MAX_SITES + 100; i++) {
      new Function('sites', 'lane', `${'\n'.repeat(i)}sites.count(lane, 0);`)(sites, lane);
    }
    const all = sites.all();
    expect(all.length).toBe(MAX_SITES + 1);
    expect(all.find(({ site }) => site === '(other)')?.scheduled).toBe(100);
  });

  test('a program that formats stacks as it likes, or not at all, disturbs nothing', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64, trace: { sample: 1 } });
    const { prepareStackTrace, stackTraceLimit } = Error;
    try {
      Error.prepareStackTrace = () => {
        throw new Error('not today');
      };
      scheduler.schedule(1, 10);
      Error.prepareStackTrace = (_, frames) => frames;
      scheduler.schedule(1, 10);
      Error.stackTraceLimit = 3;
      scheduler.schedule(1, 10);
      expect(Error.stackTraceLimit).toBe(3);
    } finally {
      Object.assign(Error, { prepareStackTrace, stackTraceLimit });
    }
    expect(scheduler.callSites().reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(3);
    expect(await scheduler.advanceTo(10)).toBe(3);
  });

  test('says nothing of drop-in timers, nor where nobody has asked for it', async () => {
    await using traced = createScheduler({ shards: 0, clock: 'manual', capacity: 64, trace: { sample: 1 } });
    createTimers(traced).setTimeout(() => undefined, 1e6);
    await traced.stats();
    expect(traced.size).toBe(1);
    expect(traced.callSites()).toEqual([]);
    await using plain = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
    plain.schedule(1, 10);
    expect(plain.callSites()).toEqual([]);
  });

  test.each([
    [null, /options.trace must be an object with a sample, got null/],
    [{}, /options.trace.sample must be a number above 0, at most 1, got undefined/],
    [{ sample: 0 }, /sample must be .* got 0/],
    [{ sample: 1.5 }, /sample must be .* got 1.5/],
    [{ sample: Number.NaN }, /sample must be .* got NaN/],
  ])('refuses %j', (trace, message) => {
    expect(() => createScheduler({ shards: 0, trace: trace as never })).toThrow(InvalidConfigError);
    expect(() => createScheduler({ shards: 0, trace: trace as never })).toThrow(message);
  });
});
