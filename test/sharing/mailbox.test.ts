import { expect, test } from 'vitest';
import { Mailbox, post } from '../../src/sharing/mailbox.ts';
import { runText } from '../fixtures/child-process.ts';
import { until } from '../fixtures/event-loop.ts';

test('a mailbox has what was written to its address, in that order, and nothing else', async () => {
  const address = `test ${process.pid}`;
  const seen: [box: number, message: unknown][] = [];
  const boxes = [0, 1].map((box) => new Mailbox(address, (message) => seen.push([box, message])));
  const other = new Mailbox(`${address} too`, (message) => seen.push([2, message]));
  const memory = new Int32Array(new SharedArrayBuffer(4));
  post(address, { memory });
  post(address, 2);
  boxes[0].post('from the first');
  await until(() => seen.length === 5);
  expect(seen.filter(([box]) => box === 0).map(([, message]) => message)).toEqual([{ memory }, 2]);
  expect(seen.filter(([box]) => box === 1).map(([, message]) => message)).toEqual([{ memory }, 2, 'from the first']);
  memory[0] = 7;
  expect((seen[0][1] as { memory: Int32Array }).memory[0]).toBe(7);
  boxes[0].close();
  post(address, 3);
  await until(() => seen.length === 6);
  expect(seen.at(-1)).toEqual([1, 3]);
  boxes[1].close();
  other.close();
});

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
