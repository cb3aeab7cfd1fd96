import { createScheduler, type Scheduler } from 'shardwheel';
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

  test.each(Object.keys(ways))('%s, by a callback, of timers that stand behind it in the same batch', async (way) => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const log: string[] = [];
    const ids: number[] = [];
    scheduler.schedule('one shard', 10, () => log.push(`stopped ${ways[way](scheduler, ids)}`));
    for (let i = 0; i < 20; i++) ids.push(scheduler.schedule('one shard', 10, () => log.push(`fired ${i}`)));
    scheduler.schedule('one shard', 10, () => log.push('the next in line'));
    await scheduler.advanceTo(1000);
    expect(log).toEqual(['stopped 20', 'the next in line']);
  });

  test('without a callback as well: a cancelled timer is in no batch', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const seen: number[] = [];
    scheduler.on('fired', ({ ids, length }) => seen.push(...ids.subarray(0, length)));
    const ids: number[] = [];
    scheduler.schedule('one shard', 10, () => scheduler.cancel(ids[1]));
    for (let i = 0; i < 3; i++) ids.push(scheduler.schedule('one shard', 10));
    await scheduler.advanceTo(10);
    expect(seen).toEqual([ids[0], ids[2]]);
  });

  test('a moved timer fires once, at its new deadline, whichever way it was moved', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const fired: number[] = [];
    const id = scheduler.schedule('a', 50, () => fired.push(scheduler.now()));
    for (const deadline of [500, 20, 700, 700, 30, 60]) expect(scheduler.reschedule(id, deadline)).toBe(true);
    for (let now = 10; now <= 800; now += 10) await scheduler.advanceTo(now);
    expect(fired).toEqual([60]);
    expect(scheduler.cancel(id)).toBe(false);
    expect(scheduler.reschedule(id, 900)).toBe(false);
  });

  test('cancel answers false within and after the callback of the timer itself', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const answers: unknown[] = [];
    const ask = (id: number) =>
      answers.push(scheduler.cancel(id), scheduler.reschedule(id, 99), scheduler.rescheduleAfter(id, 9));
    const id = scheduler.schedule('a', 5, (_, own) => ask(own));
    await scheduler.advanceTo(5);
    ask(id);
    expect(answers).toEqual([false, false, false, false, false, false]);
    expect(scheduler.size).toBe(0);
  });

  test('cancelled once, a timer is not cancelled again', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    const ids = [1, 2, 3].map((hint) => scheduler.schedule(hint, 100));
    expect([scheduler.cancel(ids[0]), scheduler.cancel(ids[0])]).toEqual([true, false]);
    expect([scheduler.cancelMany([...ids, ...ids]), scheduler.size]).toEqual([2, 0]);
  });
});
