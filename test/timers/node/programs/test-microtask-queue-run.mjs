// Microtasks of a timer run without any tick, and their ticks before the next timer.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

setTimeout(() => {
  queueMicrotask(mustCall());
}, 0);

setTimeout(
  mustCall(() => {
    let hasTicked = false;
    queueMicrotask(() => {
      process.nextTick(() => {
        hasTicked = true;
      });
    });
    setTimeout(
      mustCall(() => assert.strictEqual(hasTicked, true)),
      0,
    );
  }),
  0,
);
