// An interval goes on though its callback throws.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const interval = setInterval(() => {
  throw new Error('of the interval');
}, 1);
let errors = 0;
process.on(
  'uncaughtException',
  mustCall((error) => {
    assert.strictEqual(error.message, 'of the interval');
    errors += 1;
    if (errors === 2) clearInterval(interval);
  }, 2),
);
