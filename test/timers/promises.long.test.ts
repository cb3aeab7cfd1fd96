import { getEventListeners } from 'node:events';
import { createScheduler, createTimers } from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';
import { blockLoop } from '../fixtures/event-loop.ts';
import { own, subjects } from './subjects.ts';

/** What a promise is rejected with, as far as a program can tell. */
async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    const { name, message, code, cause } = error as Error & { code?: string };
    return { name, message, code, cause, isError: error instanceof Error, isTypeError: error instanceof TypeError };
  }
}

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe.each(subjects)('$name: promises', ({ timers }) => {
  const { setTimeout, setInterval, setImmediate, scheduler } = timers.promises;

  test('come to the value, or to nothing', async () => {
    expect(await setTimeout(1, 'value')).toBe('value');
    expect(await setTimeout()).toBeUndefined();
    expect(await setTimeout(1, 'value', { ref: false, signal: undefined })).toBe('value');
    expect(await setImmediate('value')).toBe('value');
    expect(await scheduler.wait(1)).toBeUndefined();
    expect(await scheduler.yield()).toBeUndefined();
  });

  test('settle in the order of their timers, callbacks among them', async () => {
    const order: string[] = [];
    const note = (what: string) => order.push(what);
    const first = setTimeout(5).then(() => note('first'));
    timers.setTimeout(note, 5, 'second');
    const third = setTimeout(5).then(() => note('third'));
    blockLoop(20);
    await Promise.all([first, third]);
    expect(order).toEqual(['first', 'second', 'third']);
  });

  const argumentsWith: Record<string, (value: unknown) => unknown[]> = {
    delay: (value) => [value, 'value', {}],
    options: (value) => [1, 'value', value],
    signal: (value) => [1, 'value', { signal: value }],
    ref: (value) => [1, 'value', { ref: value }],
  };

  test.each(badValues)('are rejected as in Node for bad arguments: $name', async ({ name, value }) => {
    const rejections = async (face: typeof own.promises, given: unknown[]) => {
      const interval = face.setInterval(...(given as []));
      const all = [face.setTimeout(...(given as [])), interval.next(), face.setImmediate(...(given.slice(1) as []))];
      const found = await Promise.all(all.map((promise) => rejectionOf(promise as Promise<unknown>)));
      await interval.return?.();
      return found;
    };
    let refused = 0;
    for (const [kind, given] of Object.entries(argumentsWith)) {
      if (kind === 'delay' && (value === undefined || typeof value === 'number')) continue; // good, and maybe long
      const nodes = await rejections(own.promises, given(value));
      expect(await rejections(timers.promises, given(value))).toEqual(nodes);
      refused += nodes.filter((found) => found !== 'none').length;
    }
    if (name === 'undefined') expect(refused).toBe(0);
    else expect(refused).toBeGreaterThan(1);
  });

  test('are rejected when their signal aborts, with its reason as cause, and leave no listener', async () => {
    for (const wait of [setTimeout, (delay: number, _: unknown, options: object) => scheduler.wait(delay, options)]) {
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = rejectionOf(wait(60_000, 'value', { signal }));
      expect(listeners(signal)).toBe(1);
      controller.abort('the reason');
      expect(await waiting).toEqual({
        name: 'AbortError',
        message: 'The operation was aborted',
        code: 'ABORT_ERR',
        cause: 'the reason',
        isError: true,
        isTypeError: false,
      });
      expect(listeners(signal)).toBe(0);
    }
  });

  test('leave no listener when they come to their value', async () => {
    const { signal } = new AbortController();
    await Promise.all([setTimeout(1, 0, { signal }), setTimeout(5, 0, { signal }), scheduler.wait(1, { signal })]);
    for await (const _ of setInterval(1, 0, { signal })) break;
    expect(listeners(signal)).toBe(0);
  });

  test('are rejected at once where the signal has aborted, and do not listen to it', async () => {
    const signal = AbortSignal.abort('early');
    const listen = vi.spyOn(signal, 'addEventListener');
    const expected = { name: 'AbortError', code: 'ABORT_ERR', cause: 'early' };
    expect(await rejectionOf(setTimeout(1, 0, { signal }))).toMatchObject(expected);
    expect(await rejectionOf(setInterval(1, 0, { signal }).next() as Promise<unknown>)).toMatchObject(expected);
    expect(await rejectionOf(scheduler.wait(1, { signal }))).toMatchObject(expected);
    expect(listen).not.toHaveBeenCalled();
  });
});

describe.each(subjects)('$name: async intervals', ({ timers }) => {
  const { setTimeout, setInterval } = timers.promises;

  test('yield their value with every call, until they are left', async () => {
    const got: unknown[] = [];
    for await (const value of setInterval(1, 'value')) {
      got.push(value);
      if (got.length === 5) break;
    }
    expect(got).toEqual(Array(5).fill('value'));
  });

  test('begin when they are first asked', async () => {
    const controller = new AbortController();
    const interval = setInterval(1, 'value', { signal: controller.signal });
    await setTimeout(10);
    expect(listeners(controller.signal)).toBe(0);
    const next = interval.next();
    expect(listeners(controller.signal)).toBe(1);
    expect(await next).toEqual({ value: 'value', done: false });
    expect(await interval.return?.()).toEqual({ value: undefined, done: true });
    expect(listeners(controller.signal)).toBe(0);
  });

  test('lose no call while their reader is busy, though they are aborted before it reads on', async () => {
    const controller = new AbortController();
    const interval = setInterval(1, 'value', { signal: controller.signal });
    await interval.next();
    for (let i = 0; i < 3; i++) await setTimeout(5); // at least one call in each
    controller.abort();
    let isLater = false;
    timers.setImmediate(() => {
      isLater = true;
    });
    for (let i = 0; i < 3; i++) expect(await interval.next()).toEqual({ value: 'value', done: false });
    expect(isLater).toBe(false);
    const others = async () => {
      for await (const _ of interval);
    };
    await expect(others()).rejects.toThrow('aborted');
  });

  test('end with an AbortError: while waited for, and while their reader is busy', async () => {
    for (const isBusy of [false, true]) {
      const controller = new AbortController();
      const interval = setInterval(isBusy ? 1 : 60_000, 'value', { signal: controller.signal });
      if (isBusy) await interval.next();
      const next = isBusy ? undefined : interval.next();
      controller.abort('the reason');
      const end = async () => {
        await next;
        for await (const _ of interval);
      };
      expect(await rejectionOf(end())).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause: 'the reason' });
      expect(listeners(controller.signal)).toBe(0);
      expect(await interval.next()).toEqual({ value: undefined, done: true });
    }
  });
});

test.each(subjects.slice(1))('$name: 100,000 sleeps share one listener, and leave none', async ({ timers }) => {
  const { setTimeout } = timers.promises;
  const { signal } = new AbortController();
  const sleeps = Array.from({ length: 100_000 }, (_, i) => setTimeout(1 + (i % 50), i, { signal }));
  expect(listeners(signal)).toBe(1);
  const values = await Promise.all(sleeps);
  expect(values.reduce((sum, value) => sum + value, 0)).toBe((100_000 * 99_999) / 2);
  expect(listeners(signal)).toBe(0);
});

test.each(subjects.slice(1))('$name: 100,000 sleeps are rejected in order by one abort', async ({ timers }) => {
  const { setTimeout } = timers.promises;
  const controller = new AbortController();
  const rejected: number[] = [];
  const sleeps = Array.from({ length: 100_000 }, (_, i) =>
    setTimeout(3_600_000, i, { signal: controller.signal }).catch(() => rejected.push(i)),
  );
  controller.abort();
  await Promise.all(sleeps);
  expect(rejected).toEqual(sleeps.map((_, i) => i));
  expect(listeners(controller.signal)).toBe(0);
});

describe('promises that are pending when their scheduler is closed', () => {
  test('sleeps and intervals reject, whenever it is, and leave no listener behind', async () => {
    for (const shards of [0, 1]) {
      const owner = createScheduler({ shards, capacity: 1024 });
      const { promises } = createTimers(owner);
      const { signal } = new AbortController();
      const sleeps = Array.from({ length: 200 }, () => promises.setTimeout(60_000, undefined, { signal }));
      let calls = 0;
      const interval = (async () => {
        for await (const _ of promises.setInterval(1, undefined, { signal })) calls += 1;
      })();
      const slow = (async () => {
        for await (const _ of promises.setInterval(60_000)) calls += 1000;
      })();
      const outcomes = Promise.allSettled([...sleeps, interval, slow]);
      await vi.waitUntil(() => calls > 2, 30_000);
      await owner.close();
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SCHEDULER_CLOSED' } });
      }
      expect(listeners(signal)).toBe(0);
    }
  });

  test('an interval that is closed by the callback of its own turn ends as well', async () => {
    const owner = createScheduler({ shards: 0, capacity: 64 });
    const seen: unknown[] = [];
    const interval = (async () => {
      for await (const value of createTimers(owner).promises.setInterval(1, 'value')) {
        seen.push(value);
        void owner.close();
      }
    })();
    await expect(interval).rejects.toMatchObject({ code: 'ERR_SCHEDULER_CLOSED' });
    expect(seen).toEqual(['value']);
  });
});
