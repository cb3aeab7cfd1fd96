// Hooks see a timeout's resource: init when it is set, before and after its callback, destroy when it has fired.
import assert from 'node:assert';
import { mustCall, mustNotCall } from '../must-call.mjs';
import { callsOf, recordHooks } from './hook-calls.mjs';

const DELAY = 100;
const { records, hook } = recordHooks('Timeout');
const expectCalls = (at, before, after, destroy) =>
  assert.deepStrictEqual(callsOf(records[at]), { init: 1, before, after, destroy });

const first = setTimeout(
  mustCall(() => {
    expectCalls(0, 1, undefined, undefined);
    const second = setTimeout(onSecond, DELAY).unref();
    assert.strictEqual(records.length, 2);
    assert.ok(records[1].resource === second);
    assert.strictEqual(records[1].triggerAsyncId, records[0].asyncId);
    expectCalls(0, 1, undefined, undefined);
    expectCalls(1, undefined, undefined, undefined);
    keeper = setTimeout(mustNotCall(), 2 ** 31 - 1);
  }),
  DELAY,
);
assert.strictEqual(records.length, 1);
assert.ok(records[0].resource === first);
assert.ok(Number.isInteger(records[0].asyncId));
expectCalls(0, undefined, undefined, undefined);

let keeper;
const onSecond = mustCall(() => {
  assert.strictEqual(records.length, 3);
  expectCalls(0, 1, 1, 1);
  expectCalls(1, 1, undefined, undefined);
  clearTimeout(keeper);
  setImmediate(() => setImmediate(() => undefined)); // Node reports what is destroyed in a turn to come
});

process.on('exit', () => {
  hook.disable();
  expectCalls(0, 1, 1, 1);
  expectCalls(1, 1, 1, 1);
  expectCalls(2, undefined, undefined, 1);
});
