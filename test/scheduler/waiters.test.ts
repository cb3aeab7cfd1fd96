import { getEventListeners } from 'node:events';
import { createScheduler, type Scheduler, TimeoutError } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test, vi } from 'vitest';
import { runModule } from '../fixtures/child-process.ts';
import { turn } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

const never = new Promise<never>(() => {});
const codeOf = (wait: Promise<unknown>): Promise<string> =>
  wait.then(() => 'resolved').catch(({ code }: { code: string }) => code);

/** Objects that tell of each look into them, or refuse it. */
const hostile = (): Record<string, object> => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const refuse = () => {
    throw new Error('looked into');
  };
  const traps = Object.fromEntries(
    Reflect.ownKeys(Reflect)
      .filter((key) => typeof key === 'string')
      .map((key) => [key, refuse]),
  );
  return {
    'a revoked proxy': revoked.proxy,
    'a proxy whose traps throw': new Proxy({}, traps),
    'a proxy that has everything': new Proxy({}, { has: () => true, get: () => refuse }),
    'a proxy around a function': new Proxy(() => undefined, traps),
  };
};

describe.each([0, 1])('▲ what a program gives is not looked into, shards %i', (shards) => {
  test.each(Object.keys(hostile()))('%s is an argument like any other, however its timer ends', async (name) => {
    const scheduler = createScheduler({ shards });
    await scheduler.ready;
    const argument = hostile()[name];
    const group = scheduler.group(1);
    const callback = vi.fn();
    const waits = [codeOf(scheduler.sleep(60_000)), codeOf(scheduler.withTimeout(never, 60_000))];
    const cancelled = scheduler.scheduleAfter(1, 60_000, callback, argument);
    group.scheduleAfter(60_000, callback, argument);
    scheduler.scheduleAfter(2, 60_000, callback, argument);
    const delivered = new Promise((resolve) => scheduler.scheduleAfter(3, 1, resolve, { of: argument }));
    expect(scheduler.cancel(cancelled)).toBe(true);
    expect(group.cancelAll()).toBe(1);
    expect((await delivered) as object).toHaveProperty('of');
    expect([...scheduler.liveTimers()].length).toBe(3);
    const unfired = await scheduler.close();
    expect(unfired.map(({ isSettled }) => isSettled).sort()).toEqual([false, true, true]);
    expect(await Promise.all(waits)).toEqual(['ERR_SCHEDULER_CLOSED', 'ERR_SCHEDULER_CLOSED']);
    expect(callback).not.toHaveBeenCalled();
  });
});

test('▲ what close() has handed back of a signal works on in another scheduler: time, outer signal, dispose', async () => {
  const outers = [new AbortController(), new AbortController(), new AbortController(), new AbortController()];
  const first = await manual({ shards: 0 });
  const signals = outers.map(({ signal }, i) => first.signalAfter(100, { signal, workerHint: i }));
  const unfired = await first.close();
  for (const { signal } of outers) expect(getEventListeners(signal, 'abort')).toEqual([]);
  outers[3].abort('meanwhile');
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false]);
  await using second = await manual({ shards: 0 });
  second.scheduleAfter('holds', 1000); // a signal's timer does not
  for (const { argument, callback, deadline, workerHint } of unfired) {
    second.schedule(workerHint, deadline, callback, argument);
  }
  await turn();
  expect(signals[3].reason).toBe('meanwhile');
  outers[0].abort('outer');
  signals[1][Symbol.dispose]();
  expect([signals[0].reason, second.size]).toEqual(['outer', 2]);
  await second.advanceTo(100);
  expect(signals[1].aborted).toBe(false);
  expect(signals[2].reason).toEqual(new TimeoutError(100));
  for (const { signal } of outers) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('▲ a signal that is disposed after close() has handed its timer back never aborts, and ends that timer where it is scheduled anew', async () => {
  const outer = new AbortController();
  const first = await manual({ shards: 0 });
  const signals = [0, 1, 2].map(() => first.signalAfter(100, { signal: outer.signal }));
  const unfired = await first.close();
  for (const signal of signals) signal[Symbol.dispose]();
  await using second = await manual({ shards: 0 });
  const ids = unfired.map(({ argument, callback }) => second.schedule(1, 10, callback, argument));
  expect(second.cancel(ids[0])).toBe(true);
  outer.abort();
  await second.advanceTo(100);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
  expect(second.size).toBe(0);
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
});

test('▲ a signal that is disposed, or a wait that ends, within the abort of their outer signal is left alone', async () => {
  await using scheduler = await manual({ shards: 0 });
  const { signal, abort } = (() => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort('outer') };
  })();
  const first = scheduler.signalAfter(10, { signal });
  const second = scheduler.signalAfter(10, { signal });
  first.addEventListener('abort', () => second[Symbol.dispose]());
  abort();
  expect([first.reason, second.aborted, scheduler.size]).toEqual(['outer', false, 0]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

describe('▲ a call that is refused leaves nothing', () => {
  const { signal } = new AbortController();
  let scheduler: Scheduler;
  const closing = {
    signal,
    get workerHint() {
      void scheduler.close();
      return 1;
    },
  };
  const badOptions: Record<string, [options: unknown, code: string]> = {
    'no signal': [{ signal: {} }, 'ERR_INVALID_ARG_TYPE'],
    'a signal that cannot be left alone': [
      { signal: { aborted: false, addEventListener: never.then } },
      'ERR_INVALID_ARG_TYPE',
    ],
    'an abort controller': [{ signal: new AbortController() }, 'ERR_INVALID_ARG_TYPE'],
    'no label': [{ signal, label: {} }, 'ERR_INVALID_ARG_TYPE'],
    'no hint': [{ signal, workerHint: {} }, 'ERR_INVALID_ARG_TYPE'],
    'an unknown option': [{ signal, sinal: 1 }, 'ERR_INVALID_CONFIG'],
    'a number for the options': [5, 'ERR_INVALID_ARG_TYPE'],
    'a symbol for the options': [Symbol('5'), 'ERR_INVALID_ARG_TYPE'],
    'an option that closes the scheduler': [closing, 'ERR_SCHEDULER_CLOSED'],
  };

  test.each(Object.entries(badOptions))('%s', async (_, [options, code]) => {
    for (const call of ['sleep', 'withTimeout', 'signalAfter'] as const) {
      scheduler = await manual({ shards: 0 });
      const given = options as object;
      const start: Record<typeof call, () => unknown> = {
        sleep: () => scheduler.sleep(10, given),
        withTimeout: () => scheduler.withTimeout(never, 10, given),
        signalAfter: () => scheduler.signalAfter(10, given),
      };
      expect(await codeOf(new Promise((resolve) => resolve(start[call]()))), call).toBe(code);
      expect(scheduler.size, call).toBe(0);
      expect(getEventListeners(signal, 'abort'), call).toEqual([]);
      await scheduler.close();
    }
  });

  test('nor does one without room, and its work is not begun', async () => {
    await using scheduler = await manual({ shards: 0, capacity: 1 });
    scheduler.schedule(1, 1000);
    const work = vi.fn();
    expect(await codeOf(scheduler.withTimeout(work, 10, { signal }))).toBe('ERR_CAPACITY_EXCEEDED');
    expect(() => scheduler.signalAfter(10, { signal })).toThrow('capacity');
    expect(work).not.toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

test.each([0, 1])(
  'cancelled signals leave the hold on the process as it was: the next timer comes, shards %i',
  async (shards) => {
    const { stdout } = await runModule(
      `
    const scheduler = createScheduler({ shards });
    for (let i = 0; i < 3; i++) scheduler.signalAfter(60_000);
    for (const { id } of scheduler.liveTimers()) scheduler.cancel(id);
    scheduler.scheduleAfter('x', 50, () => console.log('fired'));
  `,
      shards,
    );
    expect(stdout).toBe('fired\n');
  },
);

/** Aborts and is listened to as an AbortSignal; what the program overrides may do anything. */
const ownSignal = (overridden: object): AbortSignal => {
  const { signal } = new AbortController();
  const listen = (call: 'addEventListener' | 'removeEventListener') => signal[call].bind(signal);
  const own = { aborted: false, addEventListener: listen('addEventListener'), removeEventListener: () => undefined };
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(overridden)) as unknown as AbortSignal;
};
const thrower = () => {
  throw new Error('of the signal');
};

test('▲ a signal of the program that cannot be left alone ends no loop half-way: close, cancelMany, cancelAll', async () => {
  for (const end of ['close', 'cancelMany', 'cancelAll'] as const) {
    const scheduler = await manual({ shards: 0 });
    const group = scheduler.group(1);
    const start = (signal?: AbortSignal) => codeOf(scheduler.sleep(100, { signal, workerHint: group }));
    const waits = [ownSignal({ removeEventListener: thrower }), undefined].map(start);
    await turn();
    if (end === 'cancelAll') expect(group.cancelAll()).toBe(2);
    else if (end === 'cancelMany')
      expect(scheduler.cancelMany([...scheduler.liveTimers()].map(({ id }) => id as number))).toBe(2);
    const unfired = await scheduler.close();
    expect(unfired.length).toBe(end === 'close' ? 2 : 0);
    const code = end === 'close' ? 'ERR_SCHEDULER_CLOSED' : 'ABORT_ERR';
    expect(await Promise.all(waits)).toEqual([code, code]);
  }
});

test('▲ a signal whose reason cannot be read ends all waits of it', async () => {
  await using scheduler = await manual({ shards: 0 });
  const { promises } = createTimers(scheduler);
  const controller = new AbortController();
  const { signal } = controller;
  Object.defineProperty(signal, 'reason', { get: thrower });
  const inner = scheduler.signalAfter(100, { signal });
  const waits = [
    scheduler.sleep(100, { signal }),
    scheduler.withTimeout(never, 100, { signal }),
    promises.setTimeout(100, 1, { signal }),
    scheduler.sleep(100, { signal }),
  ].map(codeOf);
  controller.abort();
  waits.push(codeOf(scheduler.sleep(100, { signal })));
  expect(await Promise.all(waits)).toEqual(waits.map(() => 'ABORT_ERR'));
  expect([inner.aborted, scheduler.size]).toEqual([true, 0]);
});

test('▲ a signal of the program that ends the wait, or throws, when it is listened to leaves nothing', async () => {
  await using scheduler = await manual({ shards: 0 });
  const label = scheduler.label('of the wait', { min: 1, ref: false });
  const { promises } = createTimers(scheduler);
  const cancelAll = () => {
    scheduler.cancelMany([...scheduler.liveTimers()].map(({ id }) => id as number));
    scheduler.schedule(1, 1000); // in the slot of the wait
    isListenedTo = true;
  };
  let isListenedTo = false;
  const removeEventListener = () => {
    isListenedTo = false;
  };
  const ending = ownSignal({ addEventListener: cancelAll, removeEventListener });
  expect(await codeOf(scheduler.sleep(100, { signal: ending, label }))).toBe('ABORT_ERR');
  expect([isListenedTo, scheduler.size, label.size]).toEqual([false, 1, 0]);
  const refusing = ownSignal({ addEventListener: thrower });
  expect(() => scheduler.signalAfter(100, { signal: refusing, label })).toThrow('of the signal');
  await expect(scheduler.sleep(100, { signal: refusing, label })).rejects.toThrow('of the signal');
  await expect(promises.setTimeout(100, 1, { signal: refusing })).rejects.toThrow('of the signal');
  expect([scheduler.size, label.size]).toEqual([1, 0]);
});

test('▲ withTimeout() without a limit waits, and ends as any other but by time', async () => {
  await using scheduler = await manual({ shards: 0 });
  let resolve: (value: string) => void = () => undefined;
  const work = new Promise<string>((done) => {
    resolve = done;
  });
  const wait = scheduler.withTimeout(work, Number.POSITIVE_INFINITY);
  await scheduler.advanceTo(2 ** 40);
  expect(scheduler.size).toBe(1);
  resolve('value');
  expect([await wait, scheduler.size]).toEqual(['value', 0]);
  const controller = new AbortController();
  const aborted = codeOf(scheduler.withTimeout(never, Number.POSITIVE_INFINITY, { signal: controller.signal }));
  controller.abort();
  expect([await aborted, scheduler.size]).toEqual(['ABORT_ERR', 0]);
});
