import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const COUNT = 100_000;

/** Bytes of heap for each of many groups with so many live timers, without what the program itself keeps. */
async function bytesPerGroup(timers: number): Promise<number> {
  const { stdout } = await runText(
    `import { createScheduler } from 'shardwheel';
     const scheduler = createScheduler({ shards: 0 });
     const groups = new Array(${COUNT}).fill(undefined);
     const begin = (i) => {
       const group = scheduler.group(i);
       for (let k = 0; k < ${timers}; k++) group.scheduleAfter(600_000);
       return group;
     };
     for (let i = 0; i < 1000; i++) begin(i).cancelAll();
     gc();
     const before = process.memoryUsage().heapUsed;
     for (let i = 0; i < ${COUNT}; i++) groups[i] = begin(i);
     gc();
     console.log((process.memoryUsage().heapUsed - before) / ${COUNT});
     process.exit(groups.length === 0 ? 1 : 0);`,
    ['--expose-gc'],
  );
  return Number(stdout);
}

// An object of eleven fields: as many bytes as four ids take in place of an array. A private method would add a field.
test.each([0, 1, 4])('a group of %i timers takes some 112 bytes of heap', async (timers) => {
  const bytes = await bytesPerGroup(timers);
  expect(bytes).toBeGreaterThan(96); // something else may have left the heap meanwhile
  expect(bytes).toBeLessThan(118);
});
