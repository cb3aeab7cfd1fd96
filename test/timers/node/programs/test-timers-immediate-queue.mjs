// Immediates that immediates set run in the next turn, and a timer that is due comes between.
import assert from 'node:assert';
import { busyWait } from './busy-wait.mjs';

const COUNT = 10;
let hasTimerFired = false;
let calls = 0;

function run() {
  if (calls === 0) {
    setTimeout(() => {
      hasTimerFired = true;
    }, 1);
    busyWait(2);
  }
  if (hasTimerFired) return;
  calls += 1;
  setImmediate(run);
}

for (let count = 0; count < COUNT; count++) setImmediate(run);
process.on('exit', () => assert.strictEqual(calls, COUNT));
