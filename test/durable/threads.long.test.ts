import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { lmdbStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { note } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

test.skipIf(process.platform !== 'linux')(
  'a thread that delivers and is terminated is followed within two seconds',
  async () => {
    const path = newFolder();
    const library = fileURLToPath(new URL('../../lib/durable.js', import.meta.url));
    const program = `
    const { parentPort, workerData: { library, path } } = require('node:worker_threads');
    import(library).then(async ({ lmdbStore, openDurableTimers }) => {
      const timers = await openDurableTimers({ store: lmdbStore({ path }) });
      timers.handle('a', () => (parentPort.postMessage('runs'), new Promise(() => undefined)));
      await timers.schedule('a', 'under way', Date.now());
    });`;
    const thread = new Worker(program, { eval: true, workerData: { library, path } });
    await once(thread, 'message');
    const timers = await openDurableTimers({ store: lmdbStore({ path }) });
    try {
      const seen = note(timers);
      await timers.schedule('a', 'other', Date.now() + 100);
      await thread.terminate();
      await expect.poll(() => seen.map(({ key }) => key).sort(), { timeout: 2000 }).toEqual(['other', 'under way']);
    } finally {
      await timers.close();
    }
  },
);
