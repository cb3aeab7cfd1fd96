import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { Tally } from '../fixtures/tally.ts';

test.each([0, 1, 2])(`guarantee 3, exactly once, by whichever end: shards %i, seed ${SEED}`, async (shards) => {
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

test.each([0, 2])('guarantee 3, exactly once, when every queue runs full: shards %i', async (shards) => {
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
