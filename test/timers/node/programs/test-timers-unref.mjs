// Timers without a ref fire while others keep the process, and do not keep it themselves.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

const LONG = 10_000;
const SHORT = 100;
let hasIntervalFired = false;
let hasTimeoutFired = false;

const timeout = setTimeout(() => undefined, 10);
assert.strictEqual(timeout.hasRef(), true);
timeout.unref().ref().unref();
assert.strictEqual(timeout.hasRef(), false);
setInterval(() => undefined, 10)
  .unref()
  .ref()
  .unref();
setInterval(mustNotCall(), LONG).unref();
setTimeout(mustNotCall(), LONG).unref();

const interval = setInterval(
  mustCall(() => {
    hasIntervalFired = true;
    clearInterval(interval);
  }),
  SHORT,
).unref();
setTimeout(
  mustCall(() => {
    hasTimeoutFired = true;
  }),
  SHORT,
).unref();

let checks = 0;
const check = setInterval(() => {
  if (checks > 5 || (hasIntervalFired && hasTimeoutFired)) clearInterval(check);
  checks += 1;
}, SHORT);

const unrefsItself = setTimeout(
  mustCall(() => unrefsItself.unref()),
  SHORT,
);
const goesOn = setInterval(() => goesOn.unref(), SHORT);

// unref of something that is no timer does not bring down the process.
const other = setInterval(() => undefined, 1);
process.nextTick(other.unref.bind({}));
process.nextTick(other.unref.bind(other));
