import { expect, test } from 'vitest';
import { Serving } from '../../src/timers/serving.ts';
import { UncaughtErrors } from '../fixtures/uncaught-errors.ts';

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

test.each([
  ['an error', new Error('no descriptor'), /^the wheel has failed \(no descriptor\)$/],
  ['a text', 'no descriptor', /^the wheel has failed \(no descriptor\)$/],
  ['a revoked proxy', revoked(), /^the wheel has failed \(.+\)$/],
])("whatever loading the wheel throws, Node's own timers serve: %s", (_, thrown, reason) => {
  using _warnings = new UncaughtErrors();
  const serving = new Serving(1, () => {
    throw thrown;
  });
  serving.serveAlways();
  expect(serving.report()).toMatchObject({ serving: 'node', reason: expect.stringMatching(reason) });
});
