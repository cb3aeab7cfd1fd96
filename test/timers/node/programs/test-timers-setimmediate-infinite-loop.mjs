// An immediate that clears all that follow it ends the queue.
import { mustCall, mustNotCall } from './must-call.mjs';

setImmediate(
  mustCall(() => {
    clearImmediate(second);
    clearImmediate(third);
  }),
);
const second = setImmediate(mustNotCall());
const third = setImmediate(mustNotCall());
