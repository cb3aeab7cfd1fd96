// A tick of a microtask runs before a timer that the microtask sets: in the main program, and in a timer's ticks.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const test = mustCall(() => {
  let hasTicked = false;
  const microtask = mustCall(() => {
    process.nextTick(() => {
      hasTicked = true;
    });
    setTimeout(
      mustCall(() => assert.strictEqual(hasTicked, true)),
      0,
    );
  });
  Promise.resolve().then(microtask);
}, 2);
test();
setTimeout(() => process.nextTick(test), 0);
