// Entry of a process with a scheduler of `argv[2]` shards, or with none where that is "none", and `argv[3]` further
// threads that only wait. Writes how long they took to start, and what is resident then. Without a thread, a timer of
// the scheduler has fired by then.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';

/** ms until what a start leaves behind is done. */
const SETTLED = 100;
const parked = `const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage('parked');
Atomics.wait(new Int32Array(workerData), 0, 0);`;

const [shards, further] = process.argv.slice(2);
const start = performance.now();
const scheduler = shards === 'none' ? undefined : createScheduler({ shards: Number(shards) });
const workers = Array.from(
  { length: Number(further) },
  () => new Worker(parked, { eval: true, workerData: new SharedArrayBuffer(4) }),
);
await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
await scheduler?.ready;
const time = performance.now() - start;
if (shards === '0') await scheduler?.sleep(1);
await sleep(SETTLED);
writeSync(1, JSON.stringify({ time, memory: process.memoryUsage().rss / 1e6 }));
await Promise.all(workers.map((worker) => worker.terminate()));
await scheduler?.close();
