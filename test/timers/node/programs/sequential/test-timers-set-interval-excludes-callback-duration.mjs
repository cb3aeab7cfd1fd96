// The next call of an interval is due a period after the last one began: less than a period after the end of a busy one.
import assert from 'node:assert';
import { busyWait } from '../busy-wait.mjs';
import { mustCall } from '../must-call.mjs';

const PERIOD = 100;

/** ms from the end of a first call that takes a period to the beginning of the second. */
const measure = () =>
  new Promise((resolve) => {
    let calls = 0;
    let ended;
    const interval = setInterval(() => {
      calls += 1;
      if (calls === 2) {
        clearInterval(interval);
        resolve(performance.now() - ended);
        return;
      }
      busyWait(PERIOD);
      setImmediate(mustCall(() => assert.strictEqual(calls, 1))); // a turn of the loop is between
      ended = performance.now();
    }, PERIOD);
  });

const test = async () => {
  const waits = [];
  do waits.push(await measure());
  while (waits.at(-1) >= PERIOD && waits.length < 5);
  assert.ok(waits.at(-1) < PERIOD, `${waits} ms`);
};
test().then(mustCall());
