// A domain goes along from a tick to an interval, to a timeout, to a file's callback.
import domain from 'node:domain';
import fs from 'node:fs';
import { fail } from './fail.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

process.on('warning', mustNotCall());
const guard = domain.create();
guard.on(
  'error',
  mustCall((error) => {
    if (error.message !== 'at the end' || error.domain !== guard || error.domainThrown !== true) fail(`${error}`);
  }),
);
const read = mustCall(() => {
  fs.stat(
    'no such file',
    mustCall(() => {
      throw new Error('at the end');
    }),
  );
});
const tick = mustCall(() => {
  const interval = setInterval(
    mustCall(() => {
      clearInterval(interval);
      setTimeout(read, 1);
    }),
    1,
  );
});
guard.run(() => process.nextTick(tick));
