// The promise of an immediate: its value, aborts before, during and after it, listeners, what is refused, and `ref`.
import assert from 'node:assert';
import { getEventListeners } from 'node:events';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorOutputOf } from './error-output.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

const nextTurn = promisify(timers.setImmediate);
assert.strictEqual(nextTurn, promises.setImmediate);
process.on('multipleResolves', mustNotCall());

nextTurn().then(mustCall((value) => assert.strictEqual(value, undefined)));
nextTurn('value').then(mustCall((value) => assert.strictEqual(value, 'value')));

{
  const controller = new AbortController();
  assert.rejects(nextTurn(10, { signal: controller.signal }), /AbortError/).then(mustCall());
  controller.abort();
}
assert.rejects(nextTurn(10, { signal: AbortSignal.abort() }), /AbortError/).then(mustCall());
assert.rejects(nextTurn(undefined, { signal: AbortSignal.abort('why') }), { cause: 'why' }).then(mustCall());
{
  const controller = new AbortController();
  const turned = nextTurn(10, { signal: controller.signal });
  turned.then(mustCall(() => controller.abort())).then(mustCall());
}
{
  const { signal } = new AbortController();
  const turned = nextTurn(0, { signal });
  turned.finally(mustCall(() => assert.strictEqual(getEventListeners(signal, 'abort').length, 0)));
}

const refusal = { code: 'ERR_INVALID_ARG_TYPE' };
const refused = (options) => assert.rejects(nextTurn(10, options), refusal).then(mustCall());
for (const options of [1, '', false, Number.POSITIVE_INFINITY]) refused(options);
for (const signal of [1, '', false, Number.POSITIVE_INFINITY, null, {}]) refused({ signal });
for (const ref of [1, '', Number.POSITIVE_INFINITY, null, {}]) refused({ ref });

errorOutputOf("require('timers/promises').setImmediate(null, { ref: false }).then(assert.fail)").then(
  mustCall((errors) => assert.strictEqual(errors, '')),
);
