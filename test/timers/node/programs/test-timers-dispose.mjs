// Symbol.dispose clears a timeout, an interval, an immediate.
import assert from 'node:assert';
import { mustNotCall } from './must-call.mjs';

const timers = [setTimeout(mustNotCall(), 10), setInterval(mustNotCall(), 10), setImmediate(mustNotCall())];
for (const timer of timers) timer[Symbol.dispose]();
process.on('exit', () => {
  for (const timer of timers) assert.strictEqual(timer._destroyed, true);
});
