import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { turn, until } from '../fixtures/event-loop.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

const COUNT = 75_000;

test.each([1, 2, 'auto'] as const)(
  'a thread starts, or dies, while a factor changes: each timer comes once, by the last factor: shards %s',
  async (shards) => {
    await using scheduler = createScheduler({
      shards,
      wheel: shards === 'auto' ? SMALL_WHEEL : 'default',
      capacity: 2 ** 18,
    });
    await scheduler.ready;
    const tally = new Tally(COUNT);
    const idle = scheduler.label('idle', { min: 20 });
    const early: number[] = [];
    const least = new Float64Array(COUNT);
    const fire = (index: number): void => {
      if (scheduler.now() < least[index]) early.push(index);
      tally.add(index);
    };
    for (let i = 0; i < COUNT; i++) {
      least[i] = scheduler.now() + 20;
      idle.scheduleAfter(i, 1e6, fire, i);
    }
    let changes = 0;
    const isOver = async () => {
      if (shards === 'auto') {
        await burdenIndex(scheduler);
        return (await scheduler.stats()).serving.changes > 0;
      }
      if (changes === 2) killShard(scheduler, 0);
      return changes === 6;
    };
    for (let factor = 0.9; !(await isOver()); factor = 1.4 - factor) {
      const change = idle.setScale(factor);
      await (changes % 2 === 0 ? change : turn());
      changes += 1;
    }
    await idle.setScale(0.3);
    const deadlines = [...scheduler.liveTimers()].map(({ deadline }) => deadline);
    expect(deadlines.length).toBe(COUNT);
    expect(deadlines.filter((deadline) => deadline < 3e5 || deadline > 3e5 + 1e5)).toEqual([]);
    await idle.setScale(0);
    await until(() => tally.total >= COUNT);
    tally.expectEachOnce();
    expect([early, scheduler.size]).toEqual([[], 0]);
  },
);

test('a client of another thread changes a factor while the owner closes, and goes on inline', async () => {
  const owner = createScheduler({ shards: 2, capacity: 2 ** 17 });
  await owner.ready;
  await using client = ClientThread.connect(owner.share());
  await client.run(({ scheduler }) => {
    const idle = scheduler.label('idle', { min: 20 });
    const here = globalThis as unknown as { fired: Uint8Array; early: number; change: Promise<void> };
    here.fired = new Uint8Array(50_000);
    here.early = 0;
    for (let i = 0; i < 50_000; i++) {
      const least = scheduler.now() + 20;
      const fire = (name: number) => {
        here.fired[name] += 1;
        if (scheduler.now() < least) here.early += 1;
      };
      idle.scheduleAfter(i, 1e6, fire, i);
    }
    here.change = scheduler.label('idle').setScale(0.5);
  });
  const closed = owner.close();
  const told = await client.run(async ({ scheduler }) => {
    const here = globalThis as unknown as { fired: Uint8Array; early: number; change: Promise<void> };
    await here.change;
    const late = [...scheduler.liveTimers()].filter(({ deadline }) => deadline > 6e5).length;
    const { labels } = await scheduler.stats();
    await scheduler.label('idle').setScale(0);
    while (scheduler.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return { late, factor: labels[0].factor, live: labels[0].size, early: here.early, fired: here.fired };
  });
  await closed;
  expect({ ...told, fired: told.fired.every((times) => times === 1) }).toEqual({
    late: 0,
    factor: 0.5,
    live: 50_000,
    early: 0,
    fired: true,
  });
});
