// Timers of a second, intervals of a second, their arguments, and clearing twice, which clears no other timer.
import assert from 'node:assert';
import { mustCall, mustNotCall } from '../must-call.mjs';

const SECOND = 1_000;
const LATE = 900; // on a busy machine
const begun = Date.now();
const isInTime = (expected) => {
  const passed = Date.now() - begun;
  assert.ok(passed > expected - 200 && passed < expected + LATE, `${passed} ms instead of ${expected}`);
};

setTimeout(
  mustCall(() => isInTime(SECOND)),
  SECOND,
);
clearTimeout(setTimeout(mustNotCall(), SECOND / 2));

for (const given of [[], ['one'], ['one', 'two']]) {
  setTimeout(
    mustCall((...received) => assert.deepStrictEqual(received, given)),
    SECOND,
    ...given,
  );
  let calls = 0;
  setInterval(
    mustCall(function (...received) {
      assert.deepStrictEqual(received, given);
      calls += 1;
      isInTime(calls * SECOND);
      if (calls === 3) clearInterval(this);
    }, 3),
    SECOND,
    ...given,
  );
}

let quickCalls = 0;
const quick = setInterval(
  mustCall(() => {
    quickCalls += 1;
    if (quickCalls === 11) clearInterval(quick);
  }, 11),
  0,
);

const counted = mustCall(undefined, 3);
const [, , cleared] = [setTimeout(counted, 200), setTimeout(counted, 200), setTimeout(counted, 200)];
clearTimeout(cleared);
setTimeout(counted, 200);
clearTimeout(cleared);
