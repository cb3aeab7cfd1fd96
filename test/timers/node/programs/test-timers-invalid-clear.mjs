// clearImmediate of a timeout harms no other timer. From a later Node than 20; where the timeout itself fires, differs.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

clearImmediate(setTimeout(() => undefined, 0));
const sleep = (value) => new Promise((resolve) => setTimeout(resolve, 0, value));
const test = async () => {
  assert.strictEqual(await sleep(2), 2);
  assert.strictEqual(await sleep(3), 3);
};
test().then(mustCall());
