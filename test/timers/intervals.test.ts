import { stat } from 'node:fs/promises';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { IntervalGrid } from '../../src/timers/timeout.ts';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { subjects } from './subjects.ts';

describe.each(subjects)('$name: intervals', ({ timers }) => {
  test('let the loop poll, though each call takes longer than the period', async () => {
    const intervals = [12, 15].map((busy) => timers.setInterval(() => blockLoop(busy), 10));
    await new Promise<void>((resolve) => timers.setTimeout(resolve, 50));
    await expect(stat('no such file')).rejects.toThrow('ENOENT');
    for (const interval of intervals) timers.clearInterval(interval);
  });

  test('never call twice in a turn', async () => {
    let count = 0;
    const counts: number[] = [];
    const interval = timers.setInterval(() => {
      count += 1;
    }, 1);
    for (let i = 0; i < 20; i++) {
      const before = count;
      await new Promise<void>((resolve) => void timers.setImmediate(resolve));
      counts.push(count - before);
    }
    timers.clearInterval(interval);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
  });
});

/** Calls of an interval of 10 ms, by the manual clock, when the time jumps to each of the given in turn. */
async function calls(missedCalls: 'skip' | 'burst' | 'delay' | undefined, times: number[]): Promise<number[]> {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
  const { setInterval } = createTimers(scheduler, missedCalls === undefined ? {} : { missedCalls });
  const seen: number[] = [];
  setInterval(() => seen.push(scheduler.now()), 10);
  for (const time of times) await scheduler.advanceTo(time, { jump: true });
  return seen;
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

test('a refresh that is refused within a call of an interval leaves its grid', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1 });
  const { setInterval, setTimeout } = createTimers(scheduler);
  const seen: number[] = [];
  const interval = setInterval(() => {
    seen.push(scheduler.now());
    const other = setTimeout(() => undefined, 1000);
    expect(() => interval.refresh()).toThrow(expect.objectContaining({ code: 'ERR_CAPACITY_EXCEEDED' }));
    other.close();
  }, 10);
  await scheduler.advanceTo(35);
  expect(seen).toEqual([10, 20, 30]);
});

describe('overdue calls', () => {
  test.each(['skip', 'burst', 'delay'] as const)('%s: with none overdue, calls come at each period', async (missed) => {
    expect(await calls(missed, upTo(50))).toEqual([10, 20, 30, 40, 50]);
  });

  test('skip, the default: one is made late, the others are left out, the next is on the grid', async () => {
    const times = [10, 45, ...upTo(70).slice(45)];
    expect(await calls('skip', times)).toEqual([10, 45, 50, 60, 70]);
    expect(await calls(undefined, times)).toEqual([10, 45, 50, 60, 70]);
  });

  test('▲ skip: the next is at least half a period away', async () => {
    expect(await calls('skip', [10, 46, ...upTo(70).slice(46)])).toEqual([10, 46, 60, 70]);
    expect(await calls('skip', [10, 29, ...upTo(60).slice(29)])).toEqual([10, 29, 40, 50, 60]);
  });

  test('burst: all are made before the clock moves again, until none is overdue', async () => {
    expect(await calls('burst', [10, 47, ...upTo(70).slice(47)])).toEqual([10, 47, 47, 47, 50, 60, 70]);
  });

  test('burst: within one advanceTo, in the order of due ticks among other timers', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    const { setInterval, setTimeout } = createTimers(scheduler, { missedCalls: 'burst' });
    const seen: unknown[] = [];
    let due = 0;
    setInterval(() => {
      due += 10;
      seen.push(due);
    }, 10);
    setTimeout(() => seen.push('25'), 25);
    setTimeout(() => seen.push('41'), 41);
    expect(await scheduler.advanceTo(44, { jump: true })).toBe(6);
    expect(seen).toEqual([10, 20, '25', 30, 40, '41']);
    expect(await scheduler.advanceTo(10_000, { jump: true })).toBe(996);
  });

  test('burst, on the real clock: after a stall each is made, and none after it is lost', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    const { setInterval, clearInterval } = createTimers(scheduler, { missedCalls: 'burst' });
    let count = 0;
    const interval = setInterval(() => {
      count += 1;
      if (count === 1) blockLoop(85);
    }, 10);
    await until(() => count >= 15);
    clearInterval(interval);
    expect(scheduler.size).toBe(0);
  });

  test('delay: one is made late, the next comes a period after it, as in Node', async () => {
    expect(await calls('delay', [10, 47, ...upTo(70).slice(47)])).toEqual([10, 47, 57, 67]);
  });

  test.each([
    ['skip', [40, 50]],
    ['burst', [20, 30]],
    ['delay', [20, 30]],
  ] as const)('%s: calls that came due while one ran are overdue', (missed, [second, third]) => {
    const grid = new IntervalGrid(0, 10, missed);
    grid.advance(11, 10, 35);
    expect(grid.deadline).toBe(second);
    grid.advance(second + 1, second, second);
    expect(grid.deadline).toBe(third);
  });

  test('skip: a call that is due at this very moment is not left out for one that was, and not made twice', () => {
    const grid = new IntervalGrid(0, 10, 'skip');
    grid.advance(11, 10, 10);
    expect(grid.deadline).toBe(20);
    grid.advance(21, 20, 30);
    expect(grid.deadline).toBe(40);
  });

  test('the n-th call is due at start + n × period after a million periods', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    const { setInterval } = createTimers(scheduler);
    await scheduler.advanceTo(0.3);
    let count = 0;
    setInterval(() => {
      count += 1;
    }, 7);
    for (let jump = 1; jump <= 1000; jump++) await scheduler.advanceTo(jump * 7000, { jump: true });
    // 0.3 + 1,000,001 × 7, rounded up to a tick: that before is 0.3 ms away
    expect(await scheduler.nextExpiration()).toBe(7_000_008);
    expect(count).toBe(1000);
  });

  test.each(['skip', 'burst', 'delay'] as const)('%s: refreshed, it starts anew', async (missedCalls) => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    const { setInterval } = createTimers(scheduler, { missedCalls });
    const seen: number[] = [];
    const interval = setInterval(() => seen.push(scheduler.now()), 10);
    for (const time of upTo(40)) {
      await scheduler.advanceTo(time);
      if (time === 4) interval.refresh();
    }
    expect(seen).toEqual([14, 24, 34]);
  });

  test('what is no policy is refused', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 16 });
    const create = (missedCalls: unknown) => () => createTimers(scheduler, { missedCalls: missedCalls as never });
    for (const bad of ['catch up', '', null, 5])
      expect(create(bad)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_CONFIG' }));
  });
});
