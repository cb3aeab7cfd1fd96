// Stores of two storages come along with a timer that is set in another timer's callback.
import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mustCall } from '../must-call.mjs';

const outer = new AsyncLocalStorage();
const check = (inner) =>
  mustCall(() => {
    assert.strictEqual(outer.getStore(), 'outer');
    assert.strictEqual(inner.getStore(), 'inner');
  });
setTimeout(() => {
  outer.run('outer', () => {
    const inner = new AsyncLocalStorage();
    inner.run('inner', () => setTimeout(check(inner), 20));
  });
}, 10);
