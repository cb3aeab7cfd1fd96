import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

describe.each([0, 1, 2])('stats(): shards %i', (shards) => {
  test('counts what was scheduled, moved, cancelled and delivered, over all and by shard', async () => {
    await using scheduler = await manual({ shards });
    const count = Math.max(1, shards);
    const ids: number[] = [];
    const onShard = new Array<number>(count).fill(0);
    for (let i = 0; i < 600; i++) {
      ids.push(scheduler.schedule(i, i < 400 ? 10 : 100));
      if (i >= 450) onShard[scheduler.shardOf(i)] += 1;
    }
    for (const id of ids.slice(400, 450)) scheduler.cancel(id);
    for (const id of ids.slice(450, 500)) scheduler.reschedule(id, 200);
    for (const id of ids.slice(400, 450)) scheduler.reschedule(id, 200);
    await scheduler.advanceTo(10);
    const stats = await scheduler.stats();
    expect(stats).toMatchObject({ size: 150, scheduled: 600, rescheduled: 50, cancelled: 50, delivered: 400 });
    expect(scheduler.size).toBe(150);
    expect(stats.shards.map(({ shard, size, capacity, restarts }) => ({ shard, size, capacity, restarts }))).toEqual(
      onShard.map((size, shard) => ({ shard, size, capacity: 4096, restarts: 0 })),
    );
    const sum = (of: 'fired' | 'commands' | 'filed') => stats.shards.reduce((total, shard) => total + shard[of], 0);
    expect(sum('fired')).toBeGreaterThanOrEqual(400);
    expect(sum('commands')).toBe(550); // what was cancelled in its own turn, or moved to later, is no shard's business
    expect(sum('filed')).toBeGreaterThanOrEqual(150);
    expect(stats.shards.every(({ turns, bytes }) => turns > 0 && bytes > 0)).toBe(true);
  });

  test('and wheels() answer before the threads are up, to several at once, and while it closes', async () => {
    const scheduler = createScheduler({ shards });
    const count = Math.max(1, shards);
    for (const { size, shards: list } of await Promise.all([scheduler.stats(), scheduler.stats()]))
      expect([size, list.length]).toEqual([0, count]);
    for (const wheels of await Promise.all([scheduler.wheels(), scheduler.wheels()]))
      expect(wheels.map(({ lanes }) => lanes[0].filed)).toEqual(new Array(count).fill(0));
    const pending = scheduler.wheels();
    await scheduler.close();
    await pending;
  });
});
