// A timeout counts as an active resource until its callback has ended, or until it is cleared there.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const active = (name) => process.getActiveResourcesInfo().filter((type) => type === name).length;
assert.strictEqual(active('Timeout'), 0);
const timeout = setTimeout(
  mustCall(() => {
    assert.strictEqual(active('Timeout'), 1);
    clearTimeout(timeout);
    assert.strictEqual(active('Timeout'), 0);
  }),
  0,
);
assert.strictEqual(active('Timeout'), 1);

const others = active('Immediate');
const immediate = setImmediate(
  mustCall(() => {
    assert.strictEqual(active('Immediate'), 0); // it has begun
    clearImmediate(immediate);
    assert.strictEqual(active('Immediate'), 0);
  }),
);
assert.strictEqual(active('Immediate') - others, 1);
