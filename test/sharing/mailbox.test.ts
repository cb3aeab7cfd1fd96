import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

test('sharing a scheduler, and using it from another thread, has nobody load the class of message events', async () => {
  const client = `import { connectScheduler } from './lib/index.js';
    import { parentPort, workerData } from 'node:worker_threads';
    const loadsEvents = () => process.moduleLoadList.some((name) => name.endsWith('undici/undici'));
    const scheduler = connectScheduler(workerData);
    scheduler.scheduleAfter(1, 50, async () => {
      await scheduler.stats();
      parentPort.postMessage(loadsEvents());
      parentPort.close();
    });`;
  const { stdout, stderr } = await runText(`import { createScheduler } from 'shardwheel';
    import { Worker } from 'node:worker_threads';
    import { pathToFileURL } from 'node:url';
    const scheduler = createScheduler({ shards: 1 });
    const text = ${JSON.stringify(client)}.replace('./lib/', pathToFileURL('lib').href + '/');
    const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(text)), { workerData: scheduler.share() });
    worker.on('message', (loads) => {
      console.log(loads, process.moduleLoadList.some((name) => name.endsWith('undici/undici')));
    });`);
  expect({ stdout, stderr }).toEqual({ stdout: 'false false\n', stderr: '' });
});
