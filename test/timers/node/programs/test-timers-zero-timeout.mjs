// Delays of 0 keep the callback's arguments.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const given = ['one', 'two', 'three'];
setTimeout(
  mustCall((...received) => assert.deepStrictEqual(received, given)),
  0,
  ...given,
);
setTimeout(mustCall(), 0);

const CALLS = 3;
let calls = 0;
const interval = setInterval(
  mustCall((...received) => {
    assert.deepStrictEqual(received, given);
    calls += 1;
    if (calls === CALLS) clearInterval(interval);
  }, CALLS),
  0,
  ...given,
);
