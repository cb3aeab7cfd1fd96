// An immediate without a ref runs if something else keeps the process; ref and unref can be chained.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

const immediate = setImmediate(() => undefined);
assert.strictEqual(immediate.hasRef(), true);
immediate.unref();
assert.strictEqual(immediate.hasRef(), false);
clearImmediate(immediate);

const first = mustCall(() => {
  setImmediate(mustCall()).unref();
  setTimeout(
    mustCall(() => setImmediate(second)),
    0,
  );
});
const second = mustCall(() => {
  const one = setImmediate(
    mustCall(() => {
      clearImmediate(one);
      clearImmediate(two);
      one.ref(); // does not keep the process: it has run
      two.ref(); // nor does this one: it is cleared
    }),
  ).unref();
  const two = setImmediate(mustNotCall()).unref();
  setImmediate(last);
});
const last = mustCall(() => setImmediate(mustNotCall()).unref());

setImmediate(first).ref().unref().unref().ref();
