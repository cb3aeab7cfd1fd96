// A timeout that is set by a promise's reaction has the domain in which the reaction was set.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

process.on('warning', mustNotCall());
for (const guard of [domain.create(), domain.create()]) {
  const check = mustCall(() => {
    if (process.domain !== guard) fail('the timeout runs in another domain');
  });
  guard.run(() => {
    Promise.resolve().then(mustCall(() => setTimeout(check, 0)));
  });
}
