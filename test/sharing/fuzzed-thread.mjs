// A thread whose client is driven at random and held against a model, operation by operation: see fuzz.test.ts.
// Counts stand in shared memory, so that a thread that is terminated has told all that it knows.
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler, createScheduler } from '../../lib/index.js';
import { draws } from '../lane/threads/pause.mjs';

const { handle, options, seed, counts } = workerData;
const scheduler = handle === undefined ? createScheduler(options) : connectScheduler(handle);

const [OPERATIONS, DELIVERED, EARLY, DOUBLED, WRONG] = [0, 1, 2, 3, 4];
/** The second half of them is set and then left alone, so that nothing but their shard brings them back. */
const TIMERS = 4000;
const LEFT_ALONE = TIMERS / 2;
const BATCH = 2000;
const LONGEST = 60;
/** ms: whoever died, others are in its place long before. */
const PATIENCE = 30_000;

const ids = new Float64Array(TIMERS);
const deadlines = new Float64Array(TIMERS);
const isLive = new Uint8Array(TIMERS);
let stale = 0;
let isStopped = false;
let wrong;

const draw = draws(seed | 1);
const below = (end) => Math.floor(draw() * 2 ** -32 * end);

function expectSame(what, found, known) {
  if (Object.is(found, known)) return;
  counts[WRONG] += 1;
  wrong ??= `${what}: ${found}, and not ${known}`;
}

function fired(index, id) {
  const now = scheduler.now();
  if (isLive[index] === 0 || ids[index] !== id) counts[DOUBLED] += 1;
  if (now < deadlines[index]) counts[EARLY] += 1;
  counts[DELIVERED] += 1;
  isLive[index] = 0;
  stale = id;
  expectSame('has() of a timer that is being delivered', scheduler.has(id), false);
}

function operate() {
  const index = below(TIMERS);
  const deadline = scheduler.now() + below(LONGEST * 16) / 16 - 1;
  const live = isLive[index] === 1;
  if (live && index >= LEFT_ALONE) return;
  switch (index < LEFT_ALONE ? below(8) : 0) {
    case 0:
    case 1:
    case 2:
      if (live) {
        expectSame('reschedule()', scheduler.reschedule(ids[index], deadline), true);
        deadlines[index] = deadline;
      } else {
        ids[index] = scheduler.schedule(index, deadline, fired, index);
        deadlines[index] = deadline;
        isLive[index] = 1;
      }
      break;
    case 3:
    case 4:
      if (ids[index] !== 0) expectSame('cancel()', scheduler.cancel(ids[index]), live);
      if (live) stale = ids[index];
      isLive[index] = 0;
      break;
    case 5:
      expectSame('has()', scheduler.has(ids[index]), live);
      break;
    case 6:
      expectSame('deadlineOf()', scheduler.deadlineOf(ids[index]), live ? deadlines[index] : undefined);
      break;
    default:
      expectSame('reschedule() of what has ended', scheduler.reschedule(stale, deadline), false);
  }
  counts[OPERATIONS] += 1;
}

function drive() {
  for (let i = 0; i < BATCH; i++) operate();
  if (!isStopped) setImmediate(drive);
}

scheduler.on('error', (error) => {
  if (!['ERR_SHARD_INLINE', 'ERR_SHARD_FAILED'].includes(error.code))
    expectSame('an error', `${error.code}: ${error.message}`, undefined);
});

parentPort.on('message', async ({ ask, gate }) => {
  if (ask === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, gate);
  if (ask === 'kill')
    scheduler.constructor.coordinatorOf(scheduler).keepers[gate]?.thread?.pool?.threads[0]?.terminate();
  if (ask === 'close') await scheduler.close();
  if (ask !== 'stop' && ask !== 'drain') return;
  // What is live still has to come, and nothing else.
  isStopped = true;
  const end = performance.now() + PATIENCE;
  while (scheduler.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const lost = isLive.reduce((sum, live) => sum + live, 0);
  expectSame('size', scheduler.size, 0);
  parentPort.postMessage({ [ask]: { lost, wrong } });
  isStopped = ask === 'stop';
  if (!isStopped) drive();
});

parentPort.postMessage({ handle: scheduler.share() });
drive();
