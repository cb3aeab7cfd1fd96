// What is refreshed fires after those of the same delay that were set before the refresh, with a ref and without.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

// Those without a ref come first: the others keep the process until they have fired.
for (const isRef of [false, true]) {
  let hasFired = false;
  const timeout = setTimeout(
    mustCall(() => {
      hasFired = true;
    }),
    1,
  );
  if (!isRef) timeout.unref();
  const other = setTimeout(
    mustCall(() => assert.strictEqual(hasFired, false)),
    1,
  );
  if (!isRef) other.unref();
  assert.strictEqual(timeout.refresh(), timeout);
  assert.strictEqual(timeout.hasRef(), isRef);
}

// One that has fired, and is refreshed by a tick, fires again.
{
  let calls = 0;
  const refresh = mustCall(() => {
    timeout.refresh();
    assert.strictEqual(timeout.hasRef(), true);
  });
  const timeout = setTimeout(
    mustCall(() => {
      calls += 1;
      if (calls === 1) process.nextTick(refresh);
    }, 2),
    1,
  );
}

{
  let calls = 0;
  const interval = setInterval(
    mustCall(() => {
      calls += 1;
      if (calls === 2) clearInterval(interval);
    }, 2),
    1,
  );
  setTimeout(
    mustCall(() => assert.strictEqual(calls, 0)),
    1,
  );
  assert.strictEqual(interval.refresh(), interval);
}

for (const callback of [null, true, false, 0, 1, Number.NaN, '', 'text', {}, Symbol('text')]) {
  assert.throws(() => setTimeout(callback), { code: 'ERR_INVALID_ARG_TYPE' });
}
