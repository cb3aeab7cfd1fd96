// Ticks run after each timer and after each immediate, and may clear those that are due in the same turn.
import { busyWait } from './busy-wait.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

setTimeout(
  mustCall(() => {
    process.nextTick(() => {
      clearTimeout(secondTimeout);
      clearTimeout(thirdTimeout);
    });
  }),
  1,
);
const secondTimeout = setTimeout(mustNotCall(), 1);
const thirdTimeout = setTimeout(mustNotCall(), 1);
setTimeout(mustCall(), 1);

busyWait(5);

setImmediate(
  mustCall(() => {
    process.nextTick(() => {
      clearImmediate(secondImmediate);
      clearImmediate(thirdImmediate);
    });
  }),
);
const secondImmediate = setImmediate(mustNotCall());
const thirdImmediate = setImmediate(mustNotCall());
setImmediate(mustCall());
