// Immediates run after the main program, in order, with their arguments; one may clear another.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

let isMainDone = false;
setImmediate(
  mustCall(() => {
    assert.strictEqual(isMainDone, true);
    clearImmediate(cleared);
  }),
);
const cleared = setImmediate(mustNotCall());
for (const given of [
  [1, 2, 3],
  [1, 2, 3, 4, 5],
]) {
  setImmediate(
    mustCall((...received) => assert.deepStrictEqual(received, given)),
    ...given,
  );
}
isMainDone = true;
