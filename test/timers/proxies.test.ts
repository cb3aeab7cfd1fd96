import { deepStrictEqual, notDeepStrictEqual } from 'node:assert';
import { createHook } from 'node:async_hooks';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { afterAll, describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { subjects } from './subjects.ts';

/**
 * Wraps an object, and every object that is read through it, as Vue's `reactive` does; functions and typed arrays stay.
 */
function reactive<T extends object>(target: T, known = new WeakMap<object, object>()): T {
  const before = known.get(target);
  if (before !== undefined) return before as T;
  const proxy = new Proxy(target, {
    get(object, key, receiver) {
      const value = Reflect.get(object, key, receiver);
      const isPlain = Object.prototype.toString.call(value) === '[object Object]' || Array.isArray(value);
      return typeof value === 'object' && value !== null && isPlain ? reactive(value, known) : value;
    },
    set: (object, key, value, receiver) => Reflect.set(object, key, value, receiver),
  });
  known.set(target, proxy);
  return proxy;
}

const inherit = <T extends object>(target: T): T => Object.create(target) as T;

describe.each(subjects)('$name', ({ timers }) => {
  describe.each([
    ['a reactive proxy', reactive],
    ['an object that inherits from it', inherit],
  ] as const)('a timeout behind %s', (_, wrap) => {
    test('is cleared', async () => {
      let calls = 0;
      timers.clearTimeout(wrap(timers.setTimeout(() => (calls += 1), 5)));
      timers.clearInterval(wrap(timers.setInterval(() => (calls += 1), 5)));
      wrap(timers.setTimeout(() => (calls += 1), 5)).close();
      await pass(30);
      expect(calls).toBe(0);
    });

    test('is refreshed, and fires once', async () => {
      for (let isJudged = false; !isJudged; ) {
        let calls = 0;
        const begun = performance.now();
        const timeout = timers.setTimeout(() => (calls += 1), 200);
        await pass(100);
        wrap(timeout).refresh();
        const refreshed = performance.now();
        await pass(125);
        // a busy machine may come too late to tell the two
        isJudged = refreshed - begun < 200 && performance.now() - refreshed < 200;
        if (isJudged) expect(calls).toBe(0);
        await until(() => calls > 0);
        await pass(20); // for a second call
        if (isJudged) expect(calls).toBe(1);
      }
    });

    test('is refreshed after it has fired', async () => {
      let calls = 0;
      const timeout = wrap(timers.setTimeout(() => (calls += 1), 5));
      await until(() => calls === 1);
      timeout.refresh();
      await until(() => calls === 2);
    });

    test('shows delay, callback and period', () => {
      const callback = () => undefined;
      const timeout = wrap(timers.setInterval(callback, 50.5)) as unknown as Record<string, unknown>;
      expect([timeout._idleTimeout, timeout._onTimeout, timeout._repeat]).toEqual([50.5, callback, 50.5]);
      timers.clearInterval(timeout as never);
    });
  });

  test('a timeout in a reactive object is ref, unref and cleared by its number', async () => {
    let calls = 0;
    const state = reactive({ timer: timers.setTimeout(() => (calls += 1), 5) });
    expect(state.timer.unref().hasRef()).toBe(false);
    expect(state.timer.ref().hasRef()).toBe(true);
    timers.clearTimeout(+state.timer);
    await pass(20);
    expect(calls).toBe(0);
  });

  test('two timeouts are never deeply equal, one is to itself', async () => {
    const callback = () => undefined;
    const [one, other] = [timers.setTimeout(callback, 50), timers.setTimeout(callback, 50)];
    deepStrictEqual(one, one);
    notDeepStrictEqual(one, other);
    timers.clearTimeout(one);
    timers.clearTimeout(other);
    notDeepStrictEqual(one, other);
    const fired = [timers.setTimeout(callback, 1), timers.setTimeout(callback, 1)];
    await pass(15);
    notDeepStrictEqual(fired[0], fired[1]);
  });

  test('properties of its own have the names of those of Node', () => {
    const timeout = timers.setTimeout(String, 50, 'given');
    for (const name of ['_onTimeout', '_idleTimeout', '_repeat', '_timerArgs']) {
      expect([name, Object.hasOwn(timeout, name)]).toEqual([name, true]);
    }
    timers.clearTimeout(timeout);
  });
});

const scheduler = createScheduler({ shards: 0 });
afterAll(() => scheduler.close());

test('an async hook may read the resource that it gets', async () => {
  const { setTimeout } = createTimers(scheduler);
  const seen: unknown[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (!type.startsWith('shardwheel')) return;
      const { _idleTimeout, _onTimeout } = resource as { _idleTimeout?: number; _onTimeout?: unknown };
      seen.push(type, _idleTimeout, _onTimeout, (resource as { hasRef?(): boolean }).hasRef?.());
    },
  }).enable();
  let calls = 0;
  setTimeout(() => (calls += 1), 5);
  hook.disable();
  await until(() => calls === 1);
  expect(seen[0]).toBe('shardwheel.Timer');
});

test('built-ins that the program replaces do not reach a running timer', async () => {
  const { stdout, stderr } = await runText(`
    import { setTimeout, clearTimeout, setInterval, clearInterval } from 'shardwheel/timers';
    const seen = [];
    const warm = setTimeout(() => {}, 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const fail = () => { throw new Error('replaced'); };
    const kept = [];
    for (const [object, names] of [[Array.prototype, ['push', 'splice', 'fill', 'filter']], [Map.prototype, ['get', 'set', 'delete']],
      [Math, ['min', 'max', 'ceil', 'trunc', 'imul', 'clz32']], [Reflect, ['apply']], [Object, ['getPrototypeOf']]]) {
      for (const name of names) kept.push([object, name, object[name]]);
    }
    for (let i = 0; i < kept.length; i++) kept[i][0][kept[i][1]] = fail;
    let calls = 0, ticks = 0;
    const interval = setInterval(function (given) {
      calls += given;
      ticks += 1;
      if (ticks < 2 || calls <= 110) return; // however late the loop is, both come
      clearInterval(interval);
      for (let i = 0; i < kept.length; i++) kept[i][0][kept[i][1]] = kept[i][2];
      console.log(calls > 110, ticks > 1);
    }, 2, 1);
    setTimeout((one, other) => { calls += one + other; }, 3, 10, 100);
    clearTimeout(setTimeout(fail, 1));`);
  expect([stdout, stderr]).toEqual(['true true\n', '']);
});
