// A store that an immediate enters comes along with the timer it sets, and not with one that was set before.
import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { mustCall } from '../must-call.mjs';

const storage = new AsyncLocalStorage();
const expectStore = (store) => mustCall(() => assert.strictEqual(storage.getStore(), store));
setImmediate(
  mustCall(() => {
    const store = { name: 'entered' };
    storage.enterWith(store);
    assert.strictEqual(storage.getStore(), store);
    setTimeout(expectStore(store), 10);
  }),
);
setTimeout(expectStore(undefined), 10);
