// The promise of a timeout: its value, aborts before, during and after it, listeners, what is refused, and `ref`.
import assert from 'node:assert';
import { getEventListeners } from 'node:events';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorOutputOf } from './error-output.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

const sleep = promisify(timers.setTimeout);
assert.strictEqual(sleep, promises.setTimeout);
process.on('multipleResolves', mustNotCall());

sleep(1).then(mustCall((value) => assert.strictEqual(value, undefined)));
sleep(1, 'value').then(mustCall((value) => assert.strictEqual(value, 'value')));

{
  const controller = new AbortController();
  assert.rejects(sleep(10, undefined, { signal: controller.signal }), /AbortError/).then(mustCall());
  controller.abort();
}
assert.rejects(sleep(10, undefined, { signal: AbortSignal.abort() }), /AbortError/).then(mustCall());
assert.rejects(sleep(1, undefined, { signal: AbortSignal.abort('why') }), { cause: 'why' }).then(mustCall());
{
  const controller = new AbortController();
  const slept = sleep(10, undefined, { signal: controller.signal });
  slept.then(mustCall(() => controller.abort())).then(mustCall());
}
{
  const { signal } = new AbortController();
  const slept = sleep(0, null, { signal });
  slept.finally(mustCall(() => assert.strictEqual(getEventListeners(signal, 'abort').length, 0)));
}

const refusal = { code: 'ERR_INVALID_ARG_TYPE' };
const refused = (options) => assert.rejects(sleep(10, null, options), refusal).then(mustCall());
for (const options of [1, '', false, Number.POSITIVE_INFINITY]) refused(options);
for (const signal of [1, '', false, Number.POSITIVE_INFINITY, null, {}]) refused({ signal });
for (const ref of [1, '', Number.POSITIVE_INFINITY, null, {}]) refused({ ref });

errorOutputOf("require('timers/promises').setTimeout(1000, null, { ref: false }).then(assert.fail)").then(
  mustCall((errors) => assert.strictEqual(errors, '')),
);
