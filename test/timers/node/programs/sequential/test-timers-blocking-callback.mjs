// A timer that a callback sets after it has been busy counts from there: no busy time is added to its delay.
import assert from 'node:assert';
import { busyWait } from '../busy-wait.mjs';
import { mustCall } from '../must-call.mjs';

const DELAY = 100;

/** The delay of a timer that is set by a busy callback, which fires alone or with another of the same delay. */
const measure = (count) =>
  new Promise((resolve) => {
    let calls = 0;
    const busy = () => {
      busyWait(DELAY);
      calls += 1;
      if (calls < count) return;
      const set = performance.now();
      setTimeout(() => resolve(performance.now() - set), DELAY);
    };
    for (let set = 0; set < count; set++) setTimeout(busy, DELAY);
  });

// A machine that is busy elsewhere delays a timer; the fault delays it each time.
const test = async (count) => {
  const delays = [];
  do delays.push(await measure(count));
  while (delays.at(-1) >= DELAY * 2 && delays.length < 5);
  assert.ok(delays.at(-1) < DELAY * 2, `${delays} ms with ${count} in the list`);
};
test(1)
  .then(() => test(2))
  .then(mustCall());
