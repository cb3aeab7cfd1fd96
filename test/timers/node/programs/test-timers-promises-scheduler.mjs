// scheduler.yield() comes after microtasks; scheduler.wait() after an earlier timer; an abort ends it.
import assert from 'node:assert';
import { setTimeout } from 'node:timers';
import { scheduler } from 'node:timers/promises';
import { mustCall } from './must-call.mjs';

let hasMicrotaskRun = false;
const testYield = async () => {
  await scheduler.yield();
  assert.strictEqual(hasMicrotaskRun, true);
};
testYield().then(mustCall());
queueMicrotask(
  mustCall(() => {
    hasMicrotaskRun = true;
  }),
);

const testWait = async () => {
  let calls = 0;
  setTimeout(() => {
    calls += 1;
  }, 10);
  await scheduler.wait(15);
  assert.strictEqual(calls, 1);
};
testWait().then(mustCall());

const aborted = { code: 'ABORT_ERR', message: 'The operation was aborted' };
const testAbort = async () => {
  const controller = new AbortController();
  const wait = scheduler.wait(1e6, { signal: controller.signal });
  controller.abort();
  await assert.rejects(wait, aborted);
};
testAbort().then(mustCall());
assert.rejects(scheduler.wait(10_000, { signal: AbortSignal.abort() }), aborted).then(mustCall());
