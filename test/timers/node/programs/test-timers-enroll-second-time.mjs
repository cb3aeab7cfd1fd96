// What is enrolled again has the new duration, and is called once. Gone since Node 24.
import assert from 'node:assert';
import timers from 'node:timers';
import { mustCall } from './must-call.mjs';

if (timers.enroll !== undefined) {
  const item = { _onTimeout: mustCall() };
  timers.enroll(item, 1);
  assert.strictEqual(item._idleTimeout, 1);
  timers.enroll(item, 10);
  assert.strictEqual(item._idleTimeout, 10);
  timers.active(item);
}
