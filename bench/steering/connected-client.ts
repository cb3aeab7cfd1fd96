// Entry of a thread that is one more client of a scheduler and has its share of the timers: started by `scrape`.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { connectScheduler, type SchedulerHandle } from 'shardwheel';
import { CHUNK } from './random-timers.ts';

const { handle, live } = workerData as { handle: SchedulerHandle; live: number };
const scheduler = connectScheduler(handle);
for (let timer = 0; timer < live; timer++) {
  scheduler.scheduleAfter(timer, 60_000 + (timer % 60_000));
  if (timer % CHUNK === 0) await nextTurn();
}
parentPort?.on('message', async () => {
  const left = await scheduler.close();
  parentPort?.postMessage(left.length);
  process.exitCode = 0;
  parentPort?.close();
});
parentPort?.postMessage(live);
