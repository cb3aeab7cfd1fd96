// Fractions are dropped: an interval of 1.1 ms goes on, and delays from 1 to 1.8 fire in the order of setting.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const CALLS = 50;
let calls = 0;
const interval = setInterval(
  mustCall(() => {
    calls += 1;
    if (calls === CALLS) clearInterval(interval);
  }, CALLS),
  1.1,
);

const order = [];
for (const delay of [1, 1.8, 1.1, 1]) {
  setTimeout(
    mustCall(() => order.push(delay)),
    delay,
  );
}
setTimeout(
  mustCall(() => assert.deepStrictEqual(order, [1, 1.8, 1.1, 1])),
  2,
);
