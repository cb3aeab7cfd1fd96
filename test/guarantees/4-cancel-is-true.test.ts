import type { Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { blockUntilFired, publish } from '../fixtures/shard-threads.ts';

/** Ways to keep a timer from firing at its deadline; each answers how many of the given timers it stopped. */
const ways: Record<string, (scheduler: Scheduler, ids: number[]) => number> = {
  cancel: (scheduler, ids) => ids.filter((id) => scheduler.cancel(id)).length,
  cancelMany: (scheduler, ids) => scheduler.cancelMany(ids),
  'reschedule to later': (scheduler, ids) => ids.filter((id) => scheduler.reschedule(id, 1e9)).length,
  'rescheduleAfter, to later': (scheduler, ids) => ids.filter((id) => scheduler.rescheduleAfter(id, 1e9)).length,
};

describe.each([0, 1, 2])('guarantee 4, cancel is true: shards %i', (shards) => {
  test.each(Object.keys(ways))('%s, when the shards have fired already and the batch is on its way', async (way) => {
    await using scheduler = await readyScheduler({ shards });
    const fired: number[] = [];
    const ids: number[] = [];
    for (let i = 0; i < 500; i++) ids.push(scheduler.scheduleAfter(i, 5, (at) => fired.push(at), i));
    const last = scheduler.scheduleAfter(0, 6);
    publish(scheduler);
    if (shards > 0) blockUntilFired(scheduler, 501);
    else blockLoop(10);
    expect(ways[way](scheduler, ids)).toBe(500);
    expect(ids.filter((id) => scheduler.has(id)).length).toBe(way.startsWith('cancel') ? 0 : 500);
    await until(() => !scheduler.has(last));
    await pass(10);
    expect(fired).toEqual([]);
    // The records had been on their way indeed.
    if (shards > 0) expect((await scheduler.stats()).stale).toBeGreaterThanOrEqual(500);
  });

  test.each(Object.keys(ways))('%s, by a callback, of timers behind it, with callbacks and without', async (way) => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const log: string[] = [];
    const ids: number[] = [];
    scheduler.on('fired', () => log.push('a batch'));
    scheduler.schedule('one shard', 10, () => log.push(`stopped ${ways[way](scheduler, ids)}`));
    for (let i = 0; i < 20; i++) {
      ids.push(scheduler.schedule('one shard', 10, i % 2 === 0 ? () => log.push(`fired ${i}`) : undefined));
    }
    scheduler.schedule('one shard', 10, () => log.push('the next in line'));
    await scheduler.advanceTo(1000);
    expect(log).toEqual(['stopped 20', 'the next in line']);
  });

  test('a moved timer fires once, at its new deadline; within its callback and after, it can neither be cancelled nor moved', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const fired: unknown[] = [];
    const ask = (id: number) => [scheduler.cancel(id), scheduler.reschedule(id, 900), scheduler.rescheduleAfter(id, 9)];
    const id = scheduler.schedule('a', 50, (_, own) => fired.push(scheduler.now(), ask(own)));
    for (const deadline of [500, 20, 700, 700, 30, 60]) expect(scheduler.reschedule(id, deadline)).toBe(true);
    for (let now = 10; now <= 1000; now += 10) await scheduler.advanceTo(now);
    expect(fired).toEqual([60, [false, false, false]]);
    expect([ask(id), scheduler.size]).toEqual([[false, false, false], 0]);
  });
});
