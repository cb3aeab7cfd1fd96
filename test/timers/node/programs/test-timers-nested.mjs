// A timer that a callback sets never fires in the same turn, though it is due before the callback has ended.
import assert from 'node:assert';
import { busyWait } from './busy-wait.mjs';
import { mustCall } from './must-call.mjs';

for (const delay of [0, 100]) {
  let hasFired = false;
  const outer = mustCall(() => {
    setTimeout(
      mustCall(() => {
        hasFired = true;
      }),
      delay,
    );
    busyWait(delay);
    process.nextTick(mustCall(() => assert.strictEqual(hasFired, false)));
  });
  setTimeout(outer, delay);
}
