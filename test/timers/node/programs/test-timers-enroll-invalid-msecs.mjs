// enroll() refuses what is no number, and a number that is no duration. Gone since Node 24.
import assert from 'node:assert';
import timers from 'node:timers';

if (timers.enroll !== undefined) {
  for (const duration of [{}, [], 'text', () => undefined, Symbol('text')]) {
    assert.throws(() => timers.enroll({}, duration), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const duration of [-1, Number.POSITIVE_INFINITY, Number.NaN]) {
    const message = `The value of "msecs" is out of range. It must be a non-negative finite number. Received ${duration}`;
    assert.throws(() => timers.enroll({}, duration), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE', message });
  }
}
