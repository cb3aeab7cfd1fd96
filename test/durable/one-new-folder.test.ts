import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { newFolder } from './folder.ts';

const rounds = 60;

/** Opens a store in one new folder after the other, each at the same moment as the other thread does. */
const program = `
  const { parentPort, workerData: { arrived, folder, library, rounds } } = require('node:worker_threads');
  import(library).then(async ({ lmdbStore, openDurableTimers }) => {
    const failures = [];
    for (let round = 0; round < rounds; round += 1) {
      const store = lmdbStore({ path: folder + '/' + round + '/a/timers' });
      Atomics.add(arrived, 0, 1);
      while (Atomics.load(arrived, 0) < 2 * (round + 1));
      try {
        await (await openDurableTimers({ store })).close();
      } catch (error) {
        failures.push(error.message);
      }
    }
    parentPort.postMessage(failures);
  });`;

test('of two that open a store in the same new folder at once neither fails', async () => {
  const arrived = new Int32Array(new SharedArrayBuffer(4));
  const library = fileURLToPath(new URL('../../lib/durable.js', import.meta.url));
  const workerData = { arrived, folder: newFolder(), library, rounds };
  const threads = [0, 1].map(() => new Worker(program, { eval: true, workerData }));
  const heard = await Promise.all(threads.map((thread) => once(thread, 'message')));
  expect(heard).toEqual([[[]], [[]]]);
  expect(arrived[0]).toBe(2 * rounds);
});
