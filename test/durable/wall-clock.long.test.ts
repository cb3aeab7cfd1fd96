import { type DurableTimers, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pause } from './conformance/stores.ts';

const HOUR = 3_600_000;

describe.each([0, 60_000])('the wall clock is set, persistAfter %i', (persistAfter) => {
  let timers: DurableTimers;
  let seen: number[];
  let shift: number;

  beforeEach(async () => {
    const real = Date.now;
    shift = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + shift);
    timers = await openDurableTimers({ store: memoryStore(), persistAfter });
    seen = [];
    timers.handle('a', (_, { deadline }) => {
      seen.push(Date.now() - deadline);
    });
  });
  afterEach(async () => {
    await timers.close();
    vi.restoreAllMocks();
  });

  test('back: a timer waits until the clock has come to its deadline', async () => {
    await timers.schedule('a', 'k', Date.now() + 150);
    shift = -300;
    await pause(300);
    expect(seen).toEqual([]);
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(1);
    expect(seen[0]).toBeGreaterThanOrEqual(0);
  });

  test('forward: a timer that the clock has passed is delivered', async () => {
    await timers.schedule('a', 'stored', Date.now() + HOUR, undefined, { persistAfter: 0 });
    for (let at = 0; at < 3000; at++) await timers.schedule('a', `${at}`, Date.now() + 30_000 + at);
    await timers.schedule('a', 'far', Date.now() + HOUR);
    await pause(50);
    shift = 2 * HOUR;
    await pause(2000);
    expect(seen.length).toBeGreaterThan(0); // it has been noticed; the rest takes as long as the machine needs
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(3002);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
  });
});
