// The errors of timeouts without a ref, and of an immediate, go to their own domains.
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall, mustNotCall } from './must-call.mjs';

const guardFor = (message, times) => {
  const guard = domain.create();
  const check = (error) => {
    if (error.message !== message) fail(`the domain of ${message} has seen ${error.message}`);
  };
  return guard.on('error', mustCall(check, times));
};
const throwing = (message) => () => {
  throw new Error(message);
};

const keeper = setTimeout(mustNotCall(), 9_000);
guardFor('timeout', 2).run(() => {
  setTimeout(throwing('timeout'), 0).unref();
  setTimeout(() => {
    clearTimeout(keeper);
    throwing('timeout')();
  }, 0).unref();
});
guardFor('immediate', 1).run(() => setImmediate(throwing('immediate')));
