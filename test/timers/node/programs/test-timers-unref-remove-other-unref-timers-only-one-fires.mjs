// Of two enrolled items of the same time, each of which takes away the other, one fires. Gone since Node 24.
import assert from 'node:assert';
import timers from 'node:timers';
import { mustCall } from './must-call.mjs';

if (timers.enroll !== undefined) {
  let calls = 0;
  const taking = (other) => ({
    _onTimeout() {
      calls += 1;
      timers.unenroll(other());
    },
  });
  const one = taking(() => two);
  const two = taking(() => one);
  for (const item of [two, one]) {
    timers.enroll(item, 1);
    timers._unrefActive(item);
  }
  setTimeout(
    mustCall(() => assert.notStrictEqual(calls, 2)),
    20,
  );
}
