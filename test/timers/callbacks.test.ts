import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';
import { blockLoop, pass } from '../fixtures/event-loop.ts';
import { own, subjects } from './subjects.ts';

/** What a call throws, as far as a program can tell. */
function errorOf(call: () => unknown): unknown {
  try {
    call();
    return 'none';
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    return { name, message, code, isTypeError: error instanceof TypeError };
  }
}

describe.each(subjects)('$name: callbacks', ({ timers }) => {
  test.each([0, 1, 2, 3, 5, 128])('get %i arguments, and the handle as their this', async (count) => {
    const given = Array.from({ length: count }, (_, i) => ({ i }));
    for (const set of [timers.setTimeout, timers.setInterval] as ((...rest: unknown[]) => NodeJS.Timeout)[]) {
      let handle: NodeJS.Timeout | undefined;
      const [self, received] = await new Promise<unknown[]>((resolve) => {
        const callback = function (this: unknown, ...received: unknown[]) {
          handle?.close();
          resolve([this, received]);
        };
        handle = set(Object.assign(callback, { call: 'no function', apply: 'no function' }), 1, ...given);
      });
      expect(self).toBe(handle);
      expect(received).toEqual(given);
    }
  });

  test.each(badValues.filter(({ value }) => typeof value !== 'function'))(
    'that are none are refused as Node refuses them: $name',
    ({ value }) => {
      for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
        const error = errorOf(() => timers[name](value as never, 1));
        expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
        expect(error).toEqual(errorOf(() => own[name](value as never, 1)));
      }
    },
  );

  test('fire for every kind of short, missing or strange delay', async () => {
    const delays = [undefined, null, Number.NaN, -5, 0, 0.3, 1, 1.9, '2', '', 'soon', true, {}, [3], new Date(0)];
    delays.push(Number.NEGATIVE_INFINITY);
    const fired: unknown[] = [];
    const set = timers.setTimeout as (callback: () => void, delay: unknown) => void;
    await Promise.all(
      delays.map((delay) => new Promise<void>((resolve) => set(() => resolve(void fired.push(delay)), delay))),
    );
    expect(fired.length).toBe(16);
  });

  test.each([
    ['a BigInt', 5n],
    ['a symbol', Symbol('five')],
  ])('are refused with %s for delay', (_, delay) => {
    const error = errorOf(() => timers.setTimeout(() => {}, delay as never));
    expect(error).toMatchObject({ name: 'TypeError' });
    expect(error).toEqual(errorOf(() => own.setTimeout(() => {}, delay as never)));
  });

  test('never come before their delay', async () => {
    // Node counts from the loop's time in whole ms, and so may be a fraction of one early.
    const early = timers === subjects[0].timers ? 1 : 0;
    for (const delay of [1, 2.9, 5, 20]) {
      const began = performance.now();
      await new Promise<void>((resolve) => timers.setTimeout(resolve, delay));
      expect(performance.now() - began).toBeGreaterThanOrEqual(Math.trunc(delay) - early);
    }
  });

  test('that are busy before they set a timer add nothing to its delay', async () => {
    const waits: number[] = [];
    const DELAY = 100;
    do {
      const set = await new Promise<number>((resolve) => {
        timers.setTimeout(() => {
          blockLoop(DELAY);
          timers.setTimeout(resolve, DELAY, performance.now());
        }, 1);
      });
      waits.push(performance.now() - set);
      // A machine that is busy elsewhere makes it late; the fault makes it late each time.
    } while (waits[waits.length - 1] >= 2 * DELAY && waits.length < 10);
    expect(Math.min(...waits)).toBeLessThan(2 * DELAY);
  });

  test('of immediates run with their arguments, and not once cleared', async () => {
    const seen: unknown[] = [];
    const clears = timers.setImmediate(() => {
      timers.clearImmediate(clears);
      timers.clearImmediate(next);
    });
    const next = timers.setImmediate(() => seen.push('cleared by the one before'));
    timers.clearImmediate(timers.setImmediate(() => seen.push('cleared')));
    const immediate = timers.setImmediate((...given) => seen.push(given), 1, 2);
    expect([immediate.hasRef(), immediate.unref().hasRef(), immediate.ref().hasRef()]).toEqual([true, false, true]);
    await new Promise<void>((resolve) => void timers.setImmediate(resolve));
    expect(seen).toEqual([[1, 2]]);
  });

  test('promisified', async () => {
    expect(await promisify(timers.setTimeout)(1, 'value')).toBe('value');
    expect(await promisify(timers.setImmediate)('value')).toBe('value');
    expect(promisify(timers.setTimeout)).toBe(timers.promises.setTimeout);
  });

  test('are set and cleared by functions named as in Node', () => {
    const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'];
    for (const name of names) expect(timers[name as 'setTimeout'].name).toBe(name);
  });
});

test.each(subjects.slice(1))('$name: delays above 2^31 - 1 ms are kept, without a warning', async ({ timers }) => {
  const warned = vi.fn();
  process.on('warning', warned);
  const fired = vi.fn();
  const delays = [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, 1e300, Number.POSITIVE_INFINITY];
  const timeouts = delays.map((delay) => timers.setTimeout(fired, delay));
  await pass(50);
  for (const timeout of timeouts) timeout.close();
  process.off('warning', warned);
  expect(fired).not.toHaveBeenCalled();
  expect(warned).not.toHaveBeenCalled();
});
