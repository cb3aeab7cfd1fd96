// What is set without a ref by _unrefActive, again in each of its callbacks, is called until it is unenrolled.
// Gone since Node 24.
import assert from 'node:assert';
import timers from 'node:timers';
import { mustCall } from './must-call.mjs';

const CALLS = 5;
if (timers._unrefActive !== undefined) {
  let calls = 0;
  const item = {
    _onTimeout() {
      calls += 1;
      if (calls === CALLS) timers.unenroll(item);
      timers._unrefActive(item);
    },
  };
  timers.unenroll(item);
  timers.enroll(item, 1);
  timers._unrefActive(item);
  setTimeout(
    mustCall(() => assert.strictEqual(calls, CALLS)),
    1_000,
  );
}
