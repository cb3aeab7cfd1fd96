// The resource that a callback runs in is its own timer, and carries what a hook has handed on to it.
import assert from 'node:assert';
import { createHook, executionAsyncResource } from 'node:async_hooks';
import { mustCall } from '../must-call.mjs';

const state = Symbol('state');
const hook = createHook({
  init(_asyncId, _type, _triggerAsyncId, resource) {
    resource[state] = executionAsyncResource()[state];
  },
}).enable();

for (let number = 0; number < 10; number++) {
  setImmediate(
    mustCall(() => {
      executionAsyncResource()[state] = number;
      const timeout = setTimeout(
        mustCall(() => {
          assert.ok(executionAsyncResource() === timeout);
          assert.strictEqual(executionAsyncResource()[state], number);
        }),
        10,
      );
    }),
  );
}
process.on('exit', () => hook.disable());
