// Hooks see an interval as one resource: before and after each call, also of one that throws, and destroy once.
import assert from 'node:assert';
import { fail } from '../fail.mjs';
import { mustCall } from '../must-call.mjs';
import { callsOf, recordHooks } from './hook-calls.mjs';

const { records, hook } = recordHooks('Timeout');
const expectCalls = (before, after, destroy) =>
  assert.deepStrictEqual(callsOf(records[0]), { init: 1, before, after, destroy });

let calls = 0;
const interval = setInterval(
  mustCall(() => {
    calls += 1;
    expectCalls(calls, calls === 1 ? undefined : calls - 1, undefined);
    if (calls === 1) throw new Error('of the interval');
    clearInterval(interval);
    setImmediate(() => setImmediate(() => undefined));
  }, 2),
  100,
);
assert.strictEqual(records.length, 1);
expectCalls(undefined, undefined, undefined);
process.once(
  'uncaughtException',
  mustCall((error) => {
    if (error.message !== 'of the interval') fail(error.message);
  }),
);
process.on('exit', () => {
  hook.disable();
  expectCalls(2, 2, 1);
});
