import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/**
 * Bytes of heap that each of half a million calls allocates; with a young generation that is not collected meanwhile.
 */
async function bytesPerCall(set: string): Promise<number> {
  const { stdout } = await runText(
    `import { createScheduler } from 'shardwheel';
     const COUNT = 50_000;
     const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 2 ** 17 });
     let calls = 0;
     const beat = () => { calls += 1; };
     const again = (i) => { calls += 1; scheduler.scheduleAfter(i, 10, again, i); };
     for (let i = 0; i < COUNT; i++) ${set};
     for (let round = 1; round <= 5; round++) await scheduler.advanceTo(10 * round);
     gc();
     const before = process.memoryUsage().heapUsed;
     calls = 0;
     for (let round = 6; round <= 15; round++) await scheduler.advanceTo(10 * round);
     console.log((process.memoryUsage().heapUsed - before) / calls);
     await scheduler.close();`,
    ['--expose-gc', '--max-semi-space-size=512', '--min-semi-space-size=256'],
  );
  return Number(stdout);
}

// Of any delivery V8 boxes some numbers, its id among them; scheduling again boxes one more.
test('a call of a repeating timer allocates nothing beside what any delivery does', async () => {
  const repeated = await bytesPerCall('scheduler.scheduleEvery(i, 10, beat, i)');
  const byHand = await bytesPerCall('scheduler.scheduleAfter(i, 10, again, i)');
  expect(repeated).toBeGreaterThan(12);
  expect(repeated).toBeLessThan(48);
  expect(repeated).toBeLessThan(byHand + 1); // a boxed number takes 12 bytes
});
