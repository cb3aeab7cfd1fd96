import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { Tally } from '../fixtures/tally.ts';

describe.each([0, 1, 2])('guarantee 3, exactly once: shards %i', (shards) => {
  test(`every timer is delivered, cancelled or handed back by close(), seed ${SEED}`, async () => {
    const scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 16_384 });
    const draws = new Draws(SEED);
    const tally = new Tally(15_000);
    const ids: number[] = [];
    let now = 0;
    for (let i = 0; i < 15_000; i++) {
      ids.push(scheduler.schedule(i, now + draws.between(-5, 3000), tally.add, i));
      const other = draws.below(ids.length);
      if (draws.below(4) === 0 && scheduler.cancel(ids[other])) tally.add(other);
      if (draws.below(4) === 0) scheduler.reschedule(ids[draws.below(ids.length)], now + draws.between(-5, 3000));
      if (i % 50 === 0) {
        now += draws.below(12);
        await scheduler.advanceTo(now);
      }
    }
    const unfired = await scheduler.close();
    expect(unfired.length).toBeGreaterThan(100);
    for (const { argument } of unfired) tally.add(argument as number);
    tally.expectEachOnce();
  });

  test('a jump of the clock over years', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 8192 });
    const draws = new Draws(SEED);
    const tally = new Tally(5000);
    const year = 365 * 86_400_000;
    for (let i = 0; i < 5000; i++) scheduler.schedule(i, draws.between(0, i % 2 === 0 ? 3 * year : 1000), tally.add, i);
    expect(await scheduler.advanceTo(3 * year)).toBe(5000);
    tally.expectEachOnce();
  });
});

describe.each([0, 2])('guarantee 3, exactly once, by the real clock: shards %i', (shards) => {
  test('the event loop is blocked for 2 s in the middle of a run, and every queue runs full', async () => {
    await using scheduler = createScheduler({ shards });
    const draws = new Draws(SEED);
    const count = 250_000;
    const tally = new Tally(count);
    const ids = new Float64Array(count);
    let cancelled = 0;
    // More than the command rings hold, in one turn of the loop.
    for (let i = 0; i < count; i++) ids[i] = scheduler.scheduleAfter(i, draws.between(200, 2200), tally.add, i);
    await pass(300);
    const before = tally.total;
    blockLoop(2000);
    // All is due, more than the fired rings hold waits, and some of it is cancelled and moved only now.
    for (let i = 0; i < count; i += 10) {
      if (!scheduler.cancel(ids[i])) continue;
      tally.add(i);
      cancelled += 1;
    }
    for (let i = 5; i < count; i += 10) scheduler.rescheduleAfter(ids[i], draws.between(0, 50));
    await until(() => scheduler.size === 0);
    await pass(20);
    tally.expectEachOnce();
    const stats = await scheduler.stats();
    expect(stats).toMatchObject({ scheduled: count, cancelled, delivered: count - cancelled, size: 0 });
    expect(before).toBeLessThan(count);
    expect(cancelled).toBeGreaterThan(count / 20);
  });
});
