// A tick that is set in a domain within a timer's callback runs in that domain.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

setTimeout(
  mustCall(() => {
    const guard = domain.create();
    const tick = mustCall(() => {
      if (process.domain !== guard) fail('the tick runs in another domain');
    });
    guard.run(() => process.nextTick(tick));
  }),
  1,
);
