// The async iterator of an interval: values, aborts, listeners, what is refused, `ref`, and when its calls come.
import assert from 'node:assert';
import { getEventListeners } from 'node:events';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorOutputOf } from './error-output.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

const sleep = promisify(timers.setTimeout);
const { setInterval } = promises;
process.on('multipleResolves', mustNotCall());

const testValues = async (value, count) => {
  const iterator = setInterval(1, value)[Symbol.asyncIterator]();
  for (let calls = 0; calls < count; calls++) assert.deepStrictEqual(await iterator.next(), { done: false, value });
  assert.strictEqual((await iterator.return()).done, true);
};
testValues(undefined, 1).then(mustCall());
testValues('value', 1).then(mustCall());
testValues('value', 2).then(mustCall());

assert.rejects(setInterval(1, undefined, { signal: AbortSignal.abort() }).next(), /AbortError/).then(mustCall());
assert.rejects(setInterval(2, 0, { signal: AbortSignal.abort('why') }).next(), { cause: 'why' }).then(mustCall());
{
  const controller = new AbortController();
  const next = setInterval(100, undefined, { signal: controller.signal }).next();
  controller.abort();
  assert.rejects(next, /AbortError/).then(mustCall());
}
{
  const controller = new AbortController();
  const iterator = setInterval(100, undefined, { signal: controller.signal });
  const second = iterator
    .next()
    .then(mustCall(() => controller.abort()))
    .then(() => iterator.next());
  assert.rejects(second, /AbortError/).then(mustCall());
}

const refused = (options) =>
  assert.rejects(setInterval(10, undefined, options).next(), { code: 'ERR_INVALID_ARG_TYPE' }).then(mustCall());
for (const ref of [1, '', Number.POSITIVE_INFINITY, null, {}]) refused({ ref });
for (const signal of [1, '', Number.POSITIVE_INFINITY, null, {}]) refused({ signal });
for (const options of [1, '', Number.POSITIVE_INFINITY, null, true, false]) refused(options);

const testListeners = async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, 'abort').length;
  const iterator = setInterval(1, undefined, { signal });
  await iterator.next();
  assert.strictEqual(listeners(), 1);
  await iterator.return();
  assert.strictEqual(listeners(), 0);

  let calls = 0;
  for await (const _ of setInterval(10, undefined, { signal })) {
    calls += 1;
    assert.strictEqual(listeners(), 1);
    if (calls === 2) break;
  }
  assert.strictEqual(listeners(), 0);
};
testListeners().then(mustCall());

errorOutputOf("require('timers/promises').setInterval(1000, null, { ref: false }).next().then(assert.fail)").then(
  mustCall((errors) => assert.strictEqual(errors, '')),
);

// An abort in the body ends the loop before its next call.
const testAbortInBody = async () => {
  const controller = new AbortController();
  let calls = 0;
  const loop = async () => {
    for await (const value of setInterval(20, 'value', { signal: controller.signal })) {
      assert.strictEqual(value, 'value');
      calls += 1;
      if (calls === 5) controller.abort();
    }
  };
  await assert.rejects(loop(), /AbortError/);
  assert.strictEqual(calls, 5);
};
testAbortInBody().then(mustCall());

// Calls that came while the body was busy, before the abort, are made after it; then the loop ends.
const testAbortOfOverdue = async () => {
  const controller = new AbortController();
  const { signal } = controller;
  let calls = 0;
  const loop = async () => {
    for await (const _ of setInterval(10, undefined, { signal })) {
      calls += 1;
      await sleep(40);
      assert.strictEqual(signal.aborted, calls > 2);
      if (calls === 2) controller.abort();
    }
  };
  await assert.rejects(loop(), /AbortError/);
  assert.ok(calls >= 3, `${calls} calls`);
};
testAbortOfOverdue().then(mustCall());

// Its calls stand among timeouts by when they are due.
const testOrder = async () => {
  const order = [];
  const timeouts = [sleep(1), sleep(150)].map((slept, at) => slept.then(() => order.push(`timeout ${at}`)));
  const iterator = setInterval(100);
  for (const call of [0, 1]) {
    await iterator.next();
    order.push(`call ${call}`);
  }
  await iterator.return();
  await Promise.all(timeouts);
  assert.deepStrictEqual(order, ['timeout 0', 'call 0', 'timeout 1', 'call 1']);
};
testOrder().then(mustCall());
