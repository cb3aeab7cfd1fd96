// An error of a timer surfaces in the timer's store: for monitors, for the capturing callback, and for its ticks, whose
// rejection surfaces in the store of its own.
import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { fail } from '../fail.mjs';
import { mustCall } from '../must-call.mjs';

const storage = new AsyncLocalStorage();
const expectStore = (store) => {
  if (storage.getStore() !== store) fail(`the store is ${storage.getStore()}, not ${store}`);
};

process.on(
  'uncaughtExceptionMonitor',
  mustCall((error, origin) => {
    if (error.message !== 'of the timer' || origin !== 'uncaughtException') fail(`${origin}: ${error}`);
    expectStore('timer');
  }),
);
let isCaptured = false;
process.setUncaughtExceptionCaptureCallback(
  mustCall((error) => {
    if (error.message !== 'of the timer') fail(`${error}`);
    isCaptured = true;
    expectStore('timer');
  }),
);
process.on(
  'unhandledRejection',
  mustCall((error) => {
    assert.strictEqual(error.message, 'of the promise');
    expectStore('promise');
  }),
);

const rejectLater = async () => {
  await null;
  throw new Error('of the promise');
};
const throwError = mustCall(() => {
  process.nextTick(
    mustCall(() => {
      if (!isCaptured) fail('the tick runs before the error has surfaced');
      expectStore('timer');
      storage.run('promise', rejectLater);
    }),
  );
  throw new Error('of the timer');
});
assert.throws(() =>
  storage.run('timer', () => {
    setTimeout(throwError, 0);
    throw new Error('of the main program');
  }),
);
expectStore(undefined);
