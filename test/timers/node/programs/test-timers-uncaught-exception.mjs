// A timer that throws does not keep the next one from firing.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const throwError = mustCall(() => {
  throw new Error('of the first timer');
});
setTimeout(throwError, 1);
setTimeout(mustCall(), 1);
process.on(
  'uncaughtException',
  mustCall((error) => assert.strictEqual(error.message, 'of the first timer')),
);
