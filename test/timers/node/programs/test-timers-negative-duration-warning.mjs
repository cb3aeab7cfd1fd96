// A delay less than 0 brings a warning where Node has one: since Node 24, and once in a process.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

const hasWarning = Number.parseInt(process.versions.node, 10) >= 24;
process.on(
  'warning',
  mustCall(
    ({ name, message }) => {
      const lines = message.split('\n');
      assert.strictEqual(name, 'TimeoutNegativeWarning');
      assert.strictEqual(lines[0], '-1 is a negative number.');
      assert.strictEqual(lines.length, 2);
    },
    hasWarning ? 1 : 0,
  ),
);
clearTimeout(setTimeout(mustNotCall(), -1));
clearInterval(setInterval(mustNotCall(), -1));
clearTimeout(setTimeout(mustNotCall(), -1).refresh());
