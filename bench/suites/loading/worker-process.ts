// Entry of a process that starts one thread, and writes how many ms passed until its first message.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

const start = performance.now();
const worker = new Worker(new URL(`./message-thread${import.meta.url.slice(-3)}`, import.meta.url));
await once(worker, 'message');
writeSync(1, JSON.stringify({ worker: performance.now() - start }));
