// An interval counts as an active resource until it is cleared, also in its callback.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const active = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
const CALLS = 3;
let calls = 0;
assert.strictEqual(active(), 0);
const interval = setInterval(
  mustCall(() => {
    assert.strictEqual(active(), 1);
    calls += 1;
    if (calls === CALLS) clearInterval(interval);
  }, CALLS),
  0,
);
assert.strictEqual(active(), 1);
