// A process with a scheduler and its clients, each on a thread of its own with a load that notes what it does. The
// threads of shards and of clients are ended and blocked at random until the process is told to end, or killed.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createScheduler } from '../../lib/index.js';
import { draws } from '../lane/threads/pause.mjs';
import { NotedLoad } from './noted-load.mjs';

const [folder, seed, shards, clients] = process.argv.slice(2);
/** ms between two faults, at most; and how long a loop is blocked. */
const PAUSE = 150;
const BLOCK = 120;

const draw = draws(Number(seed) | 1);
const below = (end) => Math.floor(draw() * 2 ** -32 * end);
const scheduler = createScheduler({
  shards: Number(shards),
  capacity: 4096,
  thread: { hangTimeout: 2000, inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 } },
});
const offered = new Float64Array(new SharedArrayBuffer(8 * 64));
const faults = { shards: 0, clients: 0, blocks: 0 };
let files = 0;
const fileOf = () => join(folder, `${files++}`);
const load = new NotedLoad(scheduler, fileOf(), below(2 ** 31), offered);
const handle = scheduler.share();
/** By place; none while one is replaced. */
const threads = await Promise.all(Array.from({ length: Number(clients) }, startClient));

async function startClient() {
  const workerData = { handle, offered, file: fileOf(), seed: below(2 ** 31) };
  const worker = new Worker(new URL('./noted-thread.mjs', import.meta.url), { workerData, execArgv: [] });
  const exited = new Promise((resolve) => worker.on('exit', resolve));
  await new Promise((resolve) => worker.once('message', resolve)); // before the owner may be gone
  return { worker, exited };
}

async function killClient(at) {
  const { worker } = threads[at];
  threads[at] = undefined;
  await worker.terminate();
  threads[at] = await startClient();
  faults.clients += 1;
}

let next;

function fault() {
  next = setTimeout(fault, below(PAUSE));
  const at = below(threads.length);
  switch (below(4)) {
    case 0:
      if (threads[at] !== undefined) void killClient(at);
      break;
    case 1:
      threads[at]?.worker.postMessage({ block: below(BLOCK) });
      faults.blocks += 1;
      break;
    default: {
      const { keepers } = scheduler.constructor.coordinatorOf(scheduler);
      const thread = keepers[below(keepers.length)]?.thread?.pool?.threads[0];
      if (thread === undefined) break;
      void thread.terminate();
      faults.shards += 1;
    }
  }
}

/** The owner ends first, last, or in the midst of its clients. */
async function end() {
  clearTimeout(next);
  while (threads.includes(undefined)) await new Promise((resolve) => setTimeout(resolve, 5));
  const ends = threads.map(({ exited, worker }) => async () => {
    worker.postMessage({ end: below(2) === 0 ? 'at once' : 'in time' });
    await exited;
  });
  ends.splice(below(ends.length + 1), 0, () => load.end(below(2) === 0));
  if (below(2) === 0) await Promise.all(ends.map((each) => each()));
  else for (const each of ends) await each();
  process.send({ faults });
  isOver = true;
  process.disconnect();
}

let isOver = false;
process.on('message', () => void end());
process.on('disconnect', () => isOver || process.exit(1)); // whoever judges is gone
load.run();
fault();
process.send({ isReady: true });
