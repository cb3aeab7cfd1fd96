// The error of a timeout goes to the domain in which it was set, and says so.
import assert from 'node:assert';
import domain from 'node:domain';
import { fail } from './fail.mjs';
import { mustCall } from './must-call.mjs';

const guard = domain.create();
guard.on(
  'error',
  mustCall((error) => {
    try {
      assert.strictEqual(error.message, 'of the timeout');
      assert.strictEqual(error.domain, guard);
      assert.strictEqual(Object.prototype.propertyIsEnumerable.call(error, 'domain'), false);
      assert.strictEqual(error.domainEmitter, undefined);
      assert.strictEqual(error.domainBound, undefined);
      assert.strictEqual(error.domainThrown, true);
    } catch (difference) {
      fail(difference.message);
    }
  }),
);
const throwError = mustCall(() => {
  throw new Error('of the timeout');
});
guard.run(() => setTimeout(throwError, 1));
