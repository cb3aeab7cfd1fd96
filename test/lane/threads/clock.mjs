// Reads and raises a shared clock in all of its ways; counts how often a reading is less than the one before.
import { parentPort, workerData } from 'node:worker_threads';
import { SharedClock } from '../../../dist/src/time/shared-clock.js';

const { memory, number, readings } = workerData;
const clock = new SharedClock(memory);
let last = 0;
let falls = 0;
for (let i = 0; i < readings; i++) {
  const way = (i + number) % 16;
  if (way === 7) clock.setAwake(number, true);
  if (way === 15) clock.setAwake(number, false);
  if (way % 3 === 0) clock.refresh(); // returns this thread's own time: what counts is what it leaves
  const now = way % 3 === 1 ? clock.published() : clock.now();
  if (now < last) falls += 1;
  last = now;
}
parentPort.postMessage({ falls, readings });
