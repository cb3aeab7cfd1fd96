// A delay that is NaN brings a warning where Node has one: since Node 24, and once in a process.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

const hasWarning = Number.parseInt(process.versions.node, 10) >= 24;
process.on(
  'warning',
  mustCall(
    ({ name, message }) => {
      const lines = message.split('\n');
      assert.strictEqual(name, 'TimeoutNaNWarning');
      assert.strictEqual(lines[0], 'NaN is not a number.');
      assert.strictEqual(lines.length, 2);
    },
    hasWarning ? 1 : 0,
  ),
);
clearTimeout(setTimeout(mustNotCall(), Number.NaN));
clearInterval(setInterval(mustNotCall(), Number.NaN));
clearTimeout(setTimeout(mustNotCall(), Number.NaN).refresh());
