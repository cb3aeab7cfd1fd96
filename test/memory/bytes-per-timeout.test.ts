import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

const COUNT = 200_000;

/** Bytes of heap for each of many live timeouts that share a callback, without what the program itself keeps. */
async function bytesPerTimeout(set: string): Promise<number> {
  const { stdout } = await runText(
    `import { setTimeout } from 'shardwheel/timers';
     const handles = new Array(${COUNT}).fill(undefined), idle = () => {};
     const set = ${set};
     for (let i = 0; i < 1000; i++) set(i).close();
     gc();
     const before = process.memoryUsage().heapUsed;
     for (let i = 0; i < ${COUNT}; i++) handles[i] = set(i);
     gc();
     console.log((process.memoryUsage().heapUsed - before) / ${COUNT});
     process.exit(handles.length === 0 ? 1 : 0);`,
    ['--expose-gc'],
  );
  return Number(stdout);
}

// An object of seven fields is 80 bytes, its place by slot 8; delays must not add to it. Arguments are an array, as in
// Node.
test.each([
  ['of one delay', 88, '() => setTimeout(idle, 60_000)'],
  ['of many delays', 88, '(i) => setTimeout(idle, 60_000 + i)'],
  ['with an argument', 144, '(i) => setTimeout(idle, 60_000, i & 1023)'],
  ['that were refreshed', 88, '() => setTimeout(idle, 60_000).refresh()'],
  ['that are unref', 88, '() => setTimeout(idle, 60_000).unref()'],
])('a timeout %s takes %i bytes of heap', async (_, expected, set) => {
  const bytes = await bytesPerTimeout(set);
  expect(bytes).toBeGreaterThan(expected - 8);
  expect(bytes).toBeLessThan(expected + 8);
});
