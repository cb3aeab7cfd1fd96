// An immediate finds itself in the store of its own context, and may clear itself.
import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mustCall } from './must-call.mjs';

const storage = new AsyncLocalStorage();
const run = () => {
  const { immediate } = storage.getStore();
  assert.strictEqual(immediate.constructor.name, 'Immediate');
  clearImmediate(immediate);
};
for (let count = 0; count < 3; count++) {
  storage.run(
    {},
    mustCall(() => {
      storage.getStore().immediate = setImmediate(mustCall(run));
    }),
  );
}
