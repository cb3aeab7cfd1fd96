// A delay above 2^31 - 1 brings a warning: from setTimeout, from setInterval, and as long as there is enroll(), from that.
import assert from 'node:assert';
import timers from 'node:timers';
import { mustCall, mustNotCall } from './must-call.mjs';

const TOO_LONG = 2 ** 31;
const hasEnroll = timers.enroll !== undefined;
const warned = mustCall(
  (warning) => {
    const lines = warning.message.split('\n');
    assert.strictEqual(warning.name, 'TimeoutOverflowWarning');
    assert.strictEqual(lines[0], `${TOO_LONG} does not fit into a 32-bit signed integer.`);
    assert.strictEqual(lines.length, 2);
  },
  hasEnroll ? 3 : 2,
);
process.on('warning', (warning) => {
  if (warning.name !== 'DeprecationWarning') warned(warning);
});

clearTimeout(setTimeout(mustNotCall(), TOO_LONG));
clearInterval(setInterval(mustNotCall(), TOO_LONG));
if (hasEnroll) {
  const item = { _onTimeout: mustNotCall() };
  timers.enroll(item, TOO_LONG);
  timers.active(item);
  timers.unenroll(item);
}
