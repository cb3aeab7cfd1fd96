// Reads and raises a shared clock in all of its ways; counts how often a reading is less than the one before.
import { parentPort, workerData } from 'node:worker_threads';
import { SharedClock } from '../../../dist/src/time/shared-clock.js';

const { memory, number, readings } = workerData;
const clock = new SharedClock(memory);
/** Reads the slot alone. */
const slot = new SharedClock({ ...memory, manual: true });
let told = 0;
let seen = 0;
let falls = 0;
for (let i = 0; i < readings; i++) {
  const way = (i + number) % 3;
  if (way === 0) clock.publish(); // returns this thread's own time: what counts is what it leaves
  const published = slot.read();
  const now = way === 1 ? told : clock.now();
  if (now < told || published < seen || (way !== 1 && now < published)) falls += 1;
  told = now;
  seen = published;
}
parentPort.postMessage({ falls, readings });
