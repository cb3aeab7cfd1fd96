// An error of a timer goes to the domain that is innermost where it was set; without a handler there, or without a domain,
// to the process.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const seen = [];
process.on('uncaughtException', (error) => seen.push(`process: ${error.message}`));
const withHandler = (name) => domain.create().on('error', (error) => seen.push(`${name}: ${error.message}`));
const throwAfter = (message) =>
  setTimeout(
    mustCall(() => {
      throw new Error(message);
    }),
    1,
  );

withHandler('first').run(() => throwAfter('handler'));
throwAfter('no domain');
domain.create().run(() => throwAfter('no handler'));
withHandler('outer').run(() => domain.create().run(() => throwAfter('no inner handler')));
domain.create().run(() => withHandler('inner').run(() => throwAfter('inner handler')));

process.on('exit', (code) => {
  const expected = ['first: handler', 'process: no domain', 'process: no handler'];
  expected.push('process: no inner handler', 'inner: inner handler');
  if (code === 0 && `${seen}` !== `${expected}`) fail(`seen ${seen}`);
});
