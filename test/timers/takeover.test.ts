import { expect, test } from 'vitest';
import { Takeover } from '../../src/timers/takeover.ts';
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
  const takeover = new Takeover(1, () => {
    throw thrown;
  });
  takeover.serveAlways();
  expect(takeover.report()).toMatchObject({ serving: 'node', reason: expect.stringMatching(reason) });
});
