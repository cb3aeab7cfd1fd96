// A callback whose own `call` and `apply` are no functions is called all the same.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const lists = [[], ['one'], ['one', 'two'], ['one', 'two', 'three'], ['one', 'two', 'three', 'four']];
const withOwnCall = (callback) => Object.assign(callback, { call: 'no function', apply: 'no function either' });

for (const given of lists) {
  const receives = () => withOwnCall(mustCall((...received) => assert.deepStrictEqual(received, given)));
  setTimeout(receives(), 1, ...given);
  setImmediate(receives(), ...given);
  const once = withOwnCall(
    mustCall((...received) => {
      clearInterval(interval);
      assert.deepStrictEqual(received, given);
    }),
  );
  const interval = setInterval(once, 1, ...given);
}
