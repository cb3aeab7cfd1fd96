// Callbacks get from none to 128 arguments, each as it was given.
import assert from 'node:assert';
import { mustCall } from './must-call.mjs';

const MOST = 128;
const argumentsOf = (count) => Array.from({ length: count }, (_, at) => at);

const nextTimeout = mustCall((count) => {
  const given = argumentsOf(count);
  setTimeout(
    (...received) => {
      assert.deepStrictEqual(received, given);
      if (count < MOST) nextTimeout(count + 1);
    },
    1,
    ...given,
  );
}, MOST + 1);

const nextInterval = mustCall((count) => {
  const given = argumentsOf(count);
  const interval = setInterval(
    (...received) => {
      clearInterval(interval);
      assert.deepStrictEqual(received, given);
      if (count < MOST) nextInterval(count + 1);
    },
    1,
    ...given,
  );
}, MOST + 1);

nextTimeout(0);
nextInterval(0);
