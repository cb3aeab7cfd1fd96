// The error of a callback that is bound to a domain goes to it.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const guard = domain.create();
guard.on(
  'error',
  mustCall((error) => {
    const { message, domain: itsDomain, domainEmitter, domainBound, domainThrown } = error;
    if (message !== 'of the timeout' || itsDomain !== guard || domainThrown !== true) fail(`${message}`);
    if (domainEmitter !== undefined || domainBound !== undefined) fail('bound or emitted');
  }),
);
const throwError = mustCall(() => {
  throw new Error('of the timeout');
});
setTimeout(guard.bind(throwError), 1);
