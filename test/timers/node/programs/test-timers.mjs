// Every delay that is no number from 1 to 2^31 - 1 becomes 1 ms, so all of them fire before a timer of 2 ms set later.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const nothing = [undefined, null, true, false, '', [], {}, Number.NaN, Number.parseFloat('no number')];
const infinite = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const small = [-10, -1, -0.5, -0.1, -0, 0, 0.1, 0.5, 1];
const beyond = [2 ** 31, 12_345_678_901_234];
const delays = [...nothing, ...infinite, ...small, ...beyond];

const timeouts = new Set();
const intervals = new Set();
for (const [at, delay] of delays.entries()) {
  setTimeout(() => timeouts.add(at), delay);
  const interval = setInterval(() => {
    clearInterval(interval);
    intervals.add(at);
  }, delay);
}

setTimeout(
  mustCall(() => {
    const missing = (fired) => delays.filter((_, at) => !fired.has(at));
    assert.deepStrictEqual([missing(timeouts), missing(intervals)], [[], []]);
  }),
  2,
);

setTimeout(mustCall(), 10);
setInterval(
  mustCall(function () {
    clearInterval(this);
  }),
  10,
);
