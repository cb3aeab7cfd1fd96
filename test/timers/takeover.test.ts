import { createHook } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
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

describe('the reason is what keeps the wheel from serving now', () => {
  const wheelOf = (size: number) => ({ prepare: () => undefined, setsAside: () => undefined, size, timers: {} });

  /** Long enough for the estimate to keep it. */
  const DELAY = 2 ** 30;

  /** A take-over from four live timers on, and as many sets. */
  const takeoverWith = (load: () => unknown, sets = 8): Takeover => {
    const takeover = new Takeover(4, load as () => RegisteredWheel);
    for (let i = 0; i < sets; i++) takeover.set(DELAY);
    return takeover;
  };
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const said = (takeover: Takeover) => {
    const { serving, reason, live } = takeover.report();
    return [serving, reason, live];
  };

  test('few are live; enough are, and it takes over', async () => {
    const takeover = takeoverWith(() => wheelOf(0), 3);
    expect(said(takeover)).toEqual(['node', 'fewer than 4 are live', 3]);
    for (let i = 0; i < 5; i++) takeover.set(DELAY);
    expect(said(takeover)).toEqual(['node', 'the wheel takes over in a later turn', 8]);
    await until(() => takeover.report().serving === 'wheel');
    expect(said(takeover)).toEqual(['wheel', '8 were live', 8]);
  });

  test('async hooks are on', async () => {
    const hook = createHook({ init: () => undefined }).enable();
    const takeover = takeoverWith(() => wheelOf(0));
    await turns(4);
    const during = said(takeover);
    hook.disable();
    expect(during).toEqual(['node', 'async hooks are on', 8]);
    await until(() => takeover.report().reason === '8 were live');
  });

  test('the clock is faked', async () => {
    const { now } = performance;
    const takeover = takeoverWith(() => wheelOf(0));
    performance.now = () => 1;
    await turns(4);
    const during = said(takeover);
    performance.now = now;
    expect(during).toEqual(['node', 'the clock is faked', 8]);
    await until(() => takeover.report().reason === '8 were live');
  });

  test('it has failed, and is tried again after a pause', async () => {
    using _warnings = new UncaughtErrors();
    const takeover = takeoverWith(() => wheelOf(20));
    await until(() => takeover.report().serving === 'wheel');
    takeover.fail(new Error('no memory'));
    expect(said(takeover)).toEqual(['node', 'the wheel has failed (no memory)', 28]);
    for (let i = 0; i < 6; i++) takeover.estimate.clear(DELAY);
    await until(() => takeover.report().reason !== 'the wheel has failed (no memory)');
    expect(said(takeover)).toEqual(['node', "fewer than 4 of Node's are live", 22]);
  });

  test('it cannot be loaded, and is tried again after a pause', async () => {
    using _warnings = new UncaughtErrors();
    const takeover = takeoverWith(() => {
      throw new Error('no descriptor');
    });
    await turns(4);
    expect(said(takeover)).toEqual(['node', 'the wheel has failed (no descriptor)', 8]);
  });

  test('it is not found: one warning says so, when it would have taken over, and it is looked for once', async () => {
    using _warnings = new UncaughtErrors();
    const warnings: unknown[] = [];
    const note = (warning: Error & { code?: unknown }) => void warnings.push([warning.code, warning.message]);
    process.on('warning', note);
    let loads = 0;
    const load = (): undefined => {
      loads += 1;
    };
    const takeover = takeoverWith(load, 4);
    for (let i = 0; i < 2; i++) takeover.estimate.clear(DELAY);
    await turns(4);
    expect([said(takeover), warnings]).toEqual([['node', 'the wheel is not found', 2], []]);
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 5; i++) takeover.set(DELAY);
      await turns(4);
    }
    process.off('warning', note);
    expect(said(takeover)).toEqual(['node', 'the wheel is not found', 22]);
    const message = expect.stringMatching(/serve this thread for good.*not found.*external: \['shardwheel'\]/);
    expect([loads, warnings]).toEqual([1, [['SHARDWHEEL_WITHOUT_WHEEL', message]]]);
  });

  test('it held few, and gave back', async () => {
    const wheel = wheelOf(20);
    const takeover = takeoverWith(() => wheel);
    await until(() => takeover.report().serving === 'wheel');
    await turns(2);
    wheel.size = 0;
    for (let i = 0; i < 8; i++) takeover.estimate.clear(DELAY);
    await until(() => takeover.report().serving === 'node');
    expect(said(takeover)).toEqual(['node', 'the wheel held 0', 0]);
  });
});
