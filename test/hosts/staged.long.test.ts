import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { pass, turn, until } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';

const FAR = 3_600_000;

describe('commands that are staged', () => {
  test('while a long round lasts do not keep a lane from its thread', async () => {
    await using scheduler = createScheduler({ shards: 1 });
    let isReady = false;
    void scheduler.ready.then(() => {
      isReady = true;
    });
    let count = 300_000;
    for (let i = 0; i < count; i++) scheduler.scheduleAfter(i, FAR);
    let last = performance.now();
    // Some in each turn, until the thread has been up for a while; then nothing more comes.
    for (; !isReady && performance.now() - last < 3000; count++) {
      scheduler.scheduleAfter(count, FAR);
      if (internalsOf(scheduler).coordinator.hosts[0].isInline) last = Math.max(last, performance.now() - 2000);
      await turn();
    }
    await scheduler.ready;
    const shard = async () => (await scheduler.stats()).shards[0];
    expect((await shard()).inline).toBe(false);
    await until(async () => (await shard()).filed === count);
  });

  test.each([0, 1])('fill the stage within a callback: all of it arrives, shards %i', async (shards) => {
    await using scheduler = createScheduler({ shards });
    await scheduler.ready;
    const count = 20_000;
    let fired = 0;
    const note = () => {
      fired += 1;
    };
    scheduler.scheduleAfter('a', 5, () => {
      for (let i = 0; i < count; i++) scheduler.scheduleAfter(i, 50, note);
      for (let i = 0; i < count; i++) scheduler.scheduleAfter(i, FAR);
    });
    await until(async () => fired === count && (await scheduler.stats()).shards[0].filed >= count);
    expect(scheduler.size).toBe(count);
  });

  test('for a shard of this thread, beside one with a thread, come in time', async () => {
    await using scheduler = createScheduler({ shards: 2 });
    await scheduler.ready;
    const { client, coordinator } = internalsOf(scheduler);
    const [here, there] = [0, 1].map(
      (shard) => [...'abcdefgh'].find((hint) => scheduler.shardOf(hint) === shard) ?? '',
    );
    await coordinator.hosts[0].endThread();
    expect(coordinator.hosts.map(({ isInline }) => isInline)).toEqual([true, false]);
    for (const hint of [here, there]) {
      await pass(50);
      let isFired = false;
      // Within a turn: at its end it publishes to the thread what is due soon.
      scheduler.scheduleAfter(hint, 5, () => {
        scheduler.scheduleAfter(here, 40, () => {
          isFired = true;
        });
      });
      await until(() => isFired);
    }
    expect(client.size).toBe(0);
  });
});

test('news of a thread come where immediates come no more, as on Node 20 and 22', async () => {
  const text = `
    clearImmediate(setTimeout(() => undefined, 1));
    const scheduler = createScheduler({ shards });
    await scheduler.ready;
    scheduler.scheduleAfter('a', 50, () => process.exit(7)); // such a process of Node 20 does not end by itself
  `;
  expect((await runModule(text, 1)).code).toBe(7);
});
