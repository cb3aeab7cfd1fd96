import { getEventListeners } from 'node:events';
import nodeTimers from 'node:timers';
import { createScheduler, type Scheduler } from 'shardwheel';
import { createTimers, type Timeout } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { internalsOf } from '../fixtures/internals.ts';

// An awaited timeout, and an interval of promises, settle in whichever way their timer ends, and leave nothing.

interface End {
  readonly scheduler: Scheduler;
  readonly controller: AbortController;
  readonly clear: ReturnType<typeof createTimers>;
}

const cancelled = {
  name: 'AbortError',
  code: 'ABORT_ERR',
  message: 'The operation was aborted: its timer was cancelled',
};
const byProxy = (timer: Timeout) => new Proxy(timer, {});

const cleared: Record<string, (timer: Timeout, end: End) => unknown> = {
  'clearTimeout of the handle': (timer, { clear }) => clear.clearTimeout(timer as never),
  'clearInterval of the handle': (timer, { clear }) => clear.clearInterval(timer as never),
  close: (timer) => timer.close(),
  'close through a proxy': (timer) => byProxy(timer).close(),
  'clearTimeout of a proxy': (timer, { clear }) => clear.clearTimeout(byProxy(timer) as never),
  dispose: (timer) => timer[Symbol.dispose](),
  'its number': (timer, { clear }) => clear.clearTimeout(+timer),
  'its number as a string': (timer, { clear }) => clear.clearTimeout(`${+timer}`),
  "its number, by Node's own clearTimeout": (timer) => nodeTimers.clearTimeout(+timer),
  "Node's own clearTimeout": (timer) => nodeTimers.clearTimeout(timer as never),
};

const ways: Record<string, { readonly end: (timer: Timeout, end: End) => unknown; readonly error: object }> = {
  ...Object.fromEntries(Object.entries(cleared).map(([way, end]) => [way, { end, error: cancelled }])),
  'its signal': {
    end: (_, { controller }) => controller.abort(new Error('enough')),
    error: { name: 'AbortError', code: 'ABORT_ERR', message: 'The operation was aborted', cause: new Error('enough') },
  },
  'the scheduler is closed': { end: (_, { scheduler }) => scheduler.close(), error: { code: 'ERR_SCHEDULER_CLOSED' } },
};

/** What may outlive a timer: its count, its listeners, its hold on the process. */
function leftOf(scheduler: Scheduler, signal: AbortSignal) {
  const { client } = internalsOf(scheduler);
  return {
    size: scheduler.size,
    listeners: getEventListeners(signal, 'abort').length,
    isHolding: client.refs.isHolding,
    unref: client.refs.unrefCount,
  };
}

const nothing = { size: 0, listeners: 0, isHolding: false, unref: 0 };

describe.each([true, false])('▲ an awaited timer that ends rejects, ref: %s', (ref) => {
  describe.each(Object.entries(ways))('ended by %s', (_, { end, error }) => {
    test.each(['setTimeout', 'setInterval'] as const)('promises.%s', async (call) => {
      const scheduler = createScheduler({ shards: 0, clock: 'manual' });
      await scheduler.ready;
      const clear = createTimers(scheduler);
      const controller = new AbortController();
      const { signal } = controller;
      const seen: unknown[] = [];
      const waiting =
        call === 'setTimeout'
          ? clear.promises.setTimeout(50, 'value', { signal, ref })
          : (async () => {
              for await (const value of clear.promises.setInterval(50, 'value', { signal, ref })) seen.push(value);
            })();
      const outcome = waiting.then(
        (value) => ({ value }),
        (reason) => reason,
      );
      if (call === 'setInterval') await scheduler.advanceTo(120);
      const [live, more] = [...scheduler.liveTimers()];
      expect(more).toBe(undefined);
      await end(live.argument as Timeout, { scheduler, controller, clear });
      expect(await outcome).toMatchObject(error);
      expect(seen.length).toBe(call === 'setInterval' ? 2 : 0);
      expect(leftOf(scheduler, signal)).toEqual(nothing);
      await scheduler.close();
    });
  });
});

test('delivered, nothing is left; a handle that is cleared afterwards changes nothing', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual' });
  const { promises } = createTimers(scheduler);
  const { signal } = new AbortController();
  const slept = promises.setTimeout(50, 'value', { signal });
  const [{ argument }] = [...scheduler.liveTimers()];
  await scheduler.advanceTo(60);
  (argument as Timeout).close();
  expect(await slept).toBe('value');
  expect(leftOf(scheduler, signal)).toEqual(nothing);
});

test('an interval whose timer is cleared yields the calls so far, and then rejects', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual' });
  const { promises } = createTimers(scheduler);
  const calls = promises.setInterval(10, 'value');
  const first = calls.next();
  for (const now of [10, 20, 30]) await scheduler.advanceTo(now);
  const [{ argument }] = [...scheduler.liveTimers()];
  (argument as Timeout).close();
  expect(await first).toEqual({ done: false, value: 'value' });
  expect(await calls.next()).toEqual({ done: false, value: 'value' });
  expect(await calls.next()).toEqual({ done: false, value: 'value' });
  await expect(calls.next()).rejects.toMatchObject(cancelled);
  expect(await calls.next()).toEqual({ done: true, value: undefined });
});
