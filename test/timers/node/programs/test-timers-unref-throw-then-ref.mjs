// A timeout without a ref that takes one in its callback, and then throws, fires once and does not keep the process.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

process.once(
  'uncaughtException',
  mustCall((error) => assert.strictEqual(error.message, 'of the timeout')),
);
const throwError = mustCall(() => {
  timeout.ref();
  throw new Error('of the timeout');
});
const timeout = setTimeout(throwError, 1).unref();
setTimeout(mustCall(), 1);
