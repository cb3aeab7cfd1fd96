// A chain of timers of 1 ms: each fires once and in order, and the chain takes its time.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const LINKS = 30;
let last = 0;
let begun;
const link = mustCall((number) => {
  assert.strictEqual(number, last + 1);
  last = number;
  begun ??= performance.now();
  if (number < LINKS) setTimeout(link, 1, number + 1);
  else assert.ok(performance.now() - begun > 20, 'two links run at least 1 ms apart, as the loop counts ms');
}, LINKS);
setTimeout(link, 1, 1);
