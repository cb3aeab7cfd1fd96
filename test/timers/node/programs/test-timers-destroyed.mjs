// At exit a timer is destroyed if it was cleared or has fired; an interval that goes on is not.
import assert from 'node:assert';
import { mustCall, mustNotCall } from './must-call.mjs';

const clearedTimeout = setTimeout(mustNotCall(), 1);
const firedTimeout = setTimeout(mustCall(), 1);
const clearedInterval = setInterval(mustNotCall(), 1);
const goingInterval = setInterval(() => undefined, 1).unref();
setTimeout(mustCall(), 1); // the interval is called before it

clearTimeout(clearedTimeout);
clearInterval(clearedInterval);

process.on('exit', () => {
  assert.strictEqual(clearedTimeout._destroyed, true);
  assert.strictEqual(firedTimeout._destroyed, true);
  assert.strictEqual(clearedInterval._destroyed, true);
  assert.strictEqual(goingInterval._destroyed, false);
});
