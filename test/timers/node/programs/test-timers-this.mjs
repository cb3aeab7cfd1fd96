// `this` of a callback is its timer, with arguments and without.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

for (const given of [[], ['an argument']]) {
  const isThis = (handle) =>
    mustCall(function () {
      clearInterval(this);
      assert.strictEqual(this, handle());
    });
  const immediate = setImmediate(
    mustCall(function () {
      assert.strictEqual(this, immediate);
    }),
    ...given,
  );
  const interval = setInterval(
    isThis(() => interval),
    1,
    ...given,
  );
  const timeout = setTimeout(
    isThis(() => timeout),
    1,
    ...given,
  );
}
