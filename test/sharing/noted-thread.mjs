// A thread with a client of a shared scheduler and a load that notes what it does: see noted-process.mjs.
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler } from '../../lib/index.js';
import { NotedLoad } from './noted-load.mjs';

const { file, handle, offered, seed } = workerData;
const load = new NotedLoad(connectScheduler(handle), file, seed, offered);

parentPort.on('message', async ({ block, end }) => {
  if (block !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, block);
  if (end === undefined) return;
  await load.end(end === 'at once');
  parentPort.close();
});

parentPort.postMessage('connected');
load.run();
