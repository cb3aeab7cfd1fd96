import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { own, subjects } from './subjects.ts';

const isOver = (timeout: NodeJS.Timeout) => Reflect.get(timeout, '_destroyed');

describe.each(subjects)('$name: handles', ({ timers }) => {
  /** Resolves when a timer set now, for longer than those that a test has set before, has fired. */
  const afterwards = () => new Promise<void>((resolve) => timers.setTimeout(resolve, 30));

  test.each([
    ['clearTimeout', (timeout: NodeJS.Timeout) => timers.clearTimeout(timeout)],
    ['clearInterval', (timeout: NodeJS.Timeout) => timers.clearInterval(timeout)],
    ['its number', (timeout: NodeJS.Timeout) => timers.clearTimeout(+timeout)],
    ['its number as a string', (timeout: NodeJS.Timeout) => timers.clearInterval(String(+timeout))],
    ['its number in a template', (timeout: NodeJS.Timeout) => timers.clearTimeout(`${timeout}`)],
    ['close', (timeout: NodeJS.Timeout) => void timeout.close()],
    ['dispose', (timeout: NodeJS.Timeout) => timeout[Symbol.dispose]()],
    ["Node's own clearTimeout", (timeout: NodeJS.Timeout) => own.clearTimeout(timeout)],
    ["Node's own clearInterval", (timeout: NodeJS.Timeout) => own.clearInterval(timeout)],
    ["Node's own clearTimeout of its number", (timeout: NodeJS.Timeout) => own.clearTimeout(+timeout)],
    ["Node's own clearInterval of its number", (timeout: NodeJS.Timeout) => own.clearInterval(`${+timeout}`)],
  ])('%s ends a timeout and an interval, for good', async (_, clear) => {
    const fired = vi.fn();
    for (const timeout of [timers.setTimeout(fired, 5), timers.setInterval(fired, 5)]) {
      clear(timeout);
      expect(isOver(timeout)).toBe(true);
      expect(+timeout).toBe(+timeout);
      timeout.refresh();
    }
    await afterwards();
    expect(fired).not.toHaveBeenCalled();
  });

  test.each<[way: string, end: (interval: NodeJS.Timeout) => void]>([
    ['clearTimeout', (interval) => timers.clearTimeout(interval)],
    ['close', (interval) => interval.close()],
    ['_idleTimeout = -1', (interval) => Object.assign(interval, { _idleTimeout: -1 })],
    ['_onTimeout = null', (interval) => Object.assign(interval, { _onTimeout: null })],
    ['_repeat = null', (interval) => Object.assign(interval, { _repeat: null })],
    [
      'clearing, with another _onTimeout',
      (interval) => Object.assign(interval.close(), { _onTimeout: () => expect.fail() }),
    ],
  ])('%s ends an interval in its callback, with a ref and without', async (_, end) => {
    const fired = vi.fn();
    const set = () => {
      const interval = timers.setInterval(() => {
        fired();
        end(interval);
      }, 1);
      return interval;
    };
    set();
    set().unref();
    await afterwards();
    expect(fired).toHaveBeenCalledTimes(2);
  });

  test('a timeout whose callback sets _repeat becomes an interval', async () => {
    let calls = 0;
    await new Promise<void>((resolve) => {
      const timeout = timers.setTimeout(() => {
        calls += 1;
        if (calls === 1) Object.assign(timeout, { _repeat: 1 });
        if (calls === 3) resolve(timers.clearInterval(timeout));
      }, 1);
    });
    await afterwards();
    expect(calls).toBe(3);
  });

  test("clearTimeout ends Node's own timers as well, by their numbers, too", async () => {
    const fired = vi.fn();
    timers.clearTimeout(setTimeout(fired, 5));
    timers.clearTimeout(+setTimeout(fired, 5));
    await afterwards();
    expect(fired).not.toHaveBeenCalled();
  });

  test('numbers are positive integers, the same each time, and no two are alike', () => {
    const timeouts = [timers.setTimeout(() => {}, 5), timers.setInterval(() => {}, 5), setTimeout(() => {}, 5)];
    const numbers = timeouts.map((timeout) => +timeout);
    for (const number of numbers) expect(Number.isSafeInteger(number) && number > 0).toBe(true);
    expect(timeouts.map((timeout) => timeout[Symbol.toPrimitive]())).toEqual(numbers);
    expect(new Set(numbers).size).toBe(3);
    for (const timeout of timeouts) timers.clearTimeout(timeout);
  });

  test('clearing what is no handle does nothing', () => {
    const handles = [
      undefined,
      null,
      0,
      -1,
      2 ** 40,
      Number.NaN,
      '',
      'abc',
      '1e3',
      {},
      [],
      true,
      () => {},
      Symbol('s'),
    ];
    for (const handle of handles) {
      timers.clearTimeout(handle as never);
      timers.clearInterval(handle as never);
    }
    for (const nothing of [undefined, null]) timers.clearImmediate(nothing as never);
    timers
      .setTimeout(() => {}, 1)
      .close()
      .unref.call({} as never);
    expect(handles.length).toBe(14);
  });

  test('clearing twice, in the callback, or too late, ends no other timer', async () => {
    const fired = vi.fn();
    const timeout = timers.setTimeout(() => {
      timers.clearTimeout(cleared);
      timers.setTimeout(fired, 1);
      timers.clearTimeout(timeout);
    }, 1);
    const number = +timeout;
    const cleared = timers.setTimeout(fired, 5);
    timers.clearTimeout(cleared);
    timers.setTimeout(fired, 5);
    timers.clearTimeout(cleared);
    await afterwards();
    expect(isOver(timeout)).toBe(true);
    timers.setTimeout(fired, 1);
    timers.clearTimeout(timeout);
    timers.clearTimeout(number);
    timeout[Symbol.dispose]();
    expect(timeout.close()).toBe(timeout);
    await afterwards();
    expect(fired).toHaveBeenCalledTimes(3);
  });

  test('ref, unref and hasRef, before and after it has fired, and once cleared', async () => {
    const timeout = timers.setTimeout(() => {}, 1);
    const calls = () => [timeout.hasRef(), timeout.unref() === timeout, timeout.hasRef(), timeout.ref().hasRef()];
    expect(calls()).toEqual([true, true, false, true]);
    await afterwards();
    expect(calls()).toEqual([true, true, false, true]);
    timers.clearTimeout(timeout);
    expect(calls()).toEqual([true, true, false, true]);
  });

  test('refresh sets what has fired again, as often as one likes', async () => {
    const fired = vi.fn();
    const timeout = timers.setTimeout(fired, 1);
    await afterwards();
    timeout.refresh();
    await afterwards();
    timeout.refresh();
    timeout.refresh();
    await afterwards();
    expect(fired).toHaveBeenCalledTimes(3);
  });

  test('refresh of what was cleared does nothing: before it fired, in its callback, and after', async () => {
    const fired = vi.fn();
    const before = timers.setTimeout(fired, 1);
    timers.clearTimeout(before);
    before.refresh();
    const within = timers.setTimeout(() => {
      fired();
      timers.clearTimeout(within);
      within.refresh();
    }, 1);
    const after = timers.setTimeout(fired, 1);
    await afterwards();
    timers.clearTimeout(after);
    after.refresh();
    await afterwards();
    expect(fired).toHaveBeenCalledTimes(2);
  });

  test('an interval that is refreshed calls a period later, and goes on', async () => {
    const order: string[] = [];
    const interval = timers.setInterval(() => order.push('interval'), 400);
    timers.setTimeout(() => expect(interval.refresh()).toBe(interval), 200);
    timers.setTimeout(() => order.push('set at the beginning'), 402);
    while (order.length < 3) await afterwards();
    timers.clearInterval(interval);
    expect(order).toEqual(['set at the beginning', 'interval', 'interval']);
  });

  test('are Timeouts to whoever looks at them', () => {
    const timeout = timers.setTimeout(() => {}, 5);
    expect(timeout.constructor.name).toBe('Timeout');
    expect(inspect(timeout)).toMatch(/^Timeout \{/);
    expect([typeof timeout._onTimeout, isOver(timeout)]).toEqual(['function', false]);
    timeout.close();
    expect(timeout._onTimeout ?? null).toBeNull(); // undefined from Node 24 on
  });
});

test.each(subjects)(
  '$name: a number is forgotten when its timeout has fired, also where that is refreshed',
  async ({ timers }) => {
    const fired = vi.fn();
    const timeout = timers.setTimeout(fired, 1);
    const number = +timeout;
    await new Promise<void>((resolve) => timers.setTimeout(resolve, 30));
    timeout.refresh();
    timers.clearTimeout(number);
    await new Promise<void>((resolve) => timers.setTimeout(resolve, 30));
    expect(fired).toHaveBeenCalledTimes(2);
  },
);

test.each(subjects)('$name: after _idleTimeout = -1 a refresh does nothing', async ({ timers }) => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    const one = timers.setTimeout(() => order.push('one'), 5) as NodeJS.Timeout & { _idleTimeout: number };
    timers.setTimeout(() => order.push('two'), 5);
    one._idleTimeout = -1;
    one.refresh();
    timers.setTimeout(resolve, 40);
  });
  expect(order).toEqual(['one', 'two']);
});

describe('what is held', () => {
  const preamble = `
    import { createScheduler, createTimers } from 'shardwheel';
    const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
    let collected = 0;
    const registry = new FinalizationRegistry(() => { collected += 1; });
    const argument = () => { const one = { of: 'an argument' }; registry.register(one); return one; };
    const expectCollected = async (count) => {
      for (let i = 0; i < 50 && collected < count; i++) { await turn(); gc(); }
      process.stdout.write(collected + ' of ' + count);
    };`;
  test.each([
    [
      'timeouts that are set and cleared in one turn',
      `const { setTimeout: set, clearTimeout: clear } = createTimers(createScheduler({ shards: 0 }));
       const timeouts = Array.from({ length: 20000 }, () => set(() => {}, 60_000, argument()));
       for (const timeout of timeouts.splice(0)) clear(timeout);
       await expectCollected(20000);`,
      '20000 of 20000',
    ],
    [
      'timeouts whose handles are kept',
      `const { setTimeout: set } = createTimers(createScheduler({ shards: 0 }));
       globalThis.kept = Array.from({ length: 1000 }, () => set(() => {}, 60_000, argument()).close());
       await expectCollected(1000);`,
      '1000 of 1000',
    ],
    [
      'timeouts with numbers, on a scheduler that is closed',
      `let scheduler = createScheduler({ shards: 0 });
       let { setTimeout: set } = createTimers(scheduler);
       for (let i = 0; i < 1000; i++) Number(set(() => {}, 60_000, argument()));
       await scheduler.close();
       scheduler = set = undefined; // until then it has what it has handed back
       await expectCollected(1000);`,
      '1000 of 1000',
    ],
  ])('%s: nothing of their arguments', async (_, program, expected) => {
    expect(await runText(`${preamble}${program}`, ['--expose-gc'])).toMatchObject({ code: 0, stdout: expected });
  });
});
