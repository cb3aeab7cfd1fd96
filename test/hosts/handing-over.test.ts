import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { pass, until } from '../fixtures/event-loop.ts';

describe('a shard is served inline until its thread is up', () => {
  test('its first timers fire before', async () => {
    await using scheduler = createScheduler({ shards: 2, capacity: 1024 });
    let isReady = false;
    void scheduler.ready.then(() => {
      isReady = true;
    });
    const served = async () => (await scheduler.stats()).shards.map(({ inline, deaths }) => [inline, deaths]);
    const first = await new Promise((resolve) => scheduler.scheduleAfter('a', 1, () => resolve(isReady)));
    expect([first, await served()]).toEqual([false, new Array(2).fill([true, 0])]);
    await scheduler.ready;
    expect(await served()).toEqual(new Array(2).fill([false, 0]));
  });

  test('timers of one tick keep their order across the hand-over, whatever slots they stand in', async () => {
    await using scheduler = createScheduler({ shards: 1, clock: 'manual', capacity: 4096 });
    const fired: number[] = [];
    let count = 0;
    const set = () => scheduler.schedule('a', 1000, (index) => fired.push(index), count++);
    // Slots that are used again are used in another order than that of the timers.
    const early = Array.from({ length: 500 }, () => scheduler.schedule('a', 1000));
    await pass(10); // the inline shard has them
    for (const id of early) scheduler.cancel(id);
    for (let i = 0; i < 300; i++) set();
    await pass(10);
    for (let i = 0; i < 300; i++) set(); // these are staged when the thread takes over, or not
    await scheduler.ready;
    for (let i = 0; i < 300; i++) set();
    expect((await scheduler.stats()).shards[0].inline).toBe(false);
    expect(await scheduler.advanceTo(1000)).toBe(count);
    expect(fired).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  test('one thread after the other is started, and closing ends the queue', async () => {
    const scheduler = createScheduler({ shards: 16, capacity: 16 });
    const inline = async () => (await scheduler.stats()).shards.filter(({ inline }) => inline).length;
    expect(await inline()).toBe(16);
    await until(async () => (await inline()) < 16);
    expect(await inline()).toBeGreaterThan(8);
    await scheduler.close();
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Worker')).toEqual([]);
  });
});
