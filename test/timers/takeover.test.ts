import { expect, test } from 'vitest';
import type { RegisteredWheel } from '../../src/timers/registered-wheel.ts';
import { Takeover } from '../../src/timers/takeover.ts';
import { until } from '../fixtures/event-loop.ts';
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

test('with SHARDWHEEL_TIMERS=always a wheel that has failed is tried again, though no timer is set meanwhile', async () => {
  using _warnings = new UncaughtErrors();
  let loads = 0;
  const wheel = { prepare: () => undefined, setsAside: () => undefined, size: 0 } as unknown as RegisteredWheel;
  const takeover = new Takeover(1, () => {
    loads += 1;
    if (loads === 1) throw new Error('no descriptor');
    return wheel;
  });
  takeover.serveAlways();
  expect(takeover.report().reason).toContain('no descriptor');
  await until(() => takeover.report().reason === 'SHARDWHEEL_TIMERS=always');
  expect(loads).toBe(2);
});
