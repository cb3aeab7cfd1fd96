import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** Up to Node 22 contexts stand on async hooks, and an AsyncResource keeps each. */
const IN_CONTEXT = '_enable' in AsyncLocalStorage.prototype ? 220 : 110;

/**
 * How the timers are set, and the most bytes of resident memory that each may take: table, index, payload, everything.
 */
const ways: [way: string, setAll: string, most: number][] = [
  ['that repeats', 'for (let i = 0; i < COUNT; i++) repeat(i);', 80],
  ['set without a context', 'for (let i = 0; i < COUNT; i++) set(i);', 80],
  ['set without one, where there are some', 'storage.run(0, () => {}); for (let i = 0; i < COUNT; i++) set(i);', 80],
  ['set in one context', 'storage.run({}, () => { for (let i = 0; i < COUNT; i++) set(i); });', IN_CONTEXT],
  ['set each in a context of its own', 'for (let i = 0; i < COUNT; i++) storage.run(i, set, i);', IN_CONTEXT],
  ['set each one call more deeply', 'for (let i = 0; i < COUNT; i++) storage.run(i, () => set(i));', IN_CONTEXT],
];

async function bytesOf(setAll: string): Promise<number> {
  const { stdout, stderr } = await runText(
    `import { AsyncLocalStorage } from 'node:async_hooks';
     import { setTimeout as sleep } from 'node:timers/promises';
     import { createScheduler } from 'shardwheel';
     const COUNT = 500_000;
     const scheduler = createScheduler({ shards: 1, capacity: 2 ** 20 });
     await scheduler.ready;
     const storage = new AsyncLocalStorage(), ids = new Float64Array(COUNT).fill(1);
     const callback = () => {};
     const set = (i) => { ids[i] = scheduler.schedule(i, 60_000 + i / 10, callback, i); };
     const repeat = (i) => { ids[i] = scheduler.scheduleEvery(i, 60_000 + i / 10, callback, i); };
     // What the code itself takes is there before: the young generation too, as far as it grows of such calls.
     for (let round = 0; round < 20; round++) {
       for (let i = 0; i < 1000; i++) for (const one of [set, repeat]) { one(i); scheduler.cancel(ids[i]); }
       await sleep(2);
     }
     gc(); gc();
     const before = process.memoryUsage.rss();
     ${setAll}
     await sleep(300); // until the shard has them all
     gc(); gc();
     console.log((process.memoryUsage.rss() - before) / COUNT);
     await scheduler.close();`,
    ['--expose-gc'],
  );
  expect(stderr).toBe('');
  const bytes = Number(stdout);
  expect(bytes).toBeGreaterThan(20); // or else nothing was measured
  return bytes;
}

test.each(ways)('a live timer %s', async (_, setAll, most) => {
  // What V8 or the allocator has not yet given back counts as well, now and then.
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > most; tries++) least = Math.min(least, await bytesOf(setAll));
  expect(least).toBeLessThanOrEqual(most);
});
