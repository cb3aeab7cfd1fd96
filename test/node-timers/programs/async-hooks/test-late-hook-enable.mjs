// A hook that is enabled within a timer's callback sees the end of the callback, and the timer destroyed.
import { createHook } from 'node:async_hooks';
import { mustCall, mustNotCall } from '../must-call.mjs';

const keeper = setTimeout(mustNotCall(), 9_000);
const hook = createHook({
  before: mustNotCall(),
  after: mustCall(),
  destroy: mustCall(() => {
    hook.disable();
    clearTimeout(keeper);
  }),
});
setTimeout(
  mustCall(() => hook.enable()),
  1,
);
