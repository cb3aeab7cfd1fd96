// The domain in which a timer has thrown is not the domain of the timer that fires next in the same turn.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const throwInDomain = mustCall(() => {
  const guard = domain.create();
  guard.on(
    'error',
    mustCall((error) => {
      if (error.domain !== guard) fail('the error has another domain');
      if (process.domain !== undefined && process.domain !== null) fail('its handler runs in a domain');
    }),
  );
  guard.run(() => {
    throw new Error('in the domain');
  });
});
const second = mustCall(() => {
  if (process.domain !== undefined && process.domain !== null) fail('the second timer runs in a domain');
});
setTimeout(throwInDomain, 50);
setTimeout(second, 50);
