// Where one of a domain's timers throws, those after it fire in their order.
import domain from 'node:domain';
import { busyWait } from './busy-wait.mjs';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const guard = domain.create();
guard.on(
  'error',
  mustCall((error) => {
    if (error.message !== 'of the first timer') fail(`${error}`);
  }),
);
guard.run(() => {
  let hasSecondFired = false;
  setTimeout(() => {
    throw new Error('of the first timer');
  }, 1);
  setTimeout(
    mustCall(() => {
      hasSecondFired = true;
    }),
    1,
  );
  setTimeout(
    mustCall(() => {
      if (!hasSecondFired) fail('the third timer has fired before the second');
    }),
    2,
  );
  busyWait(3);
});
