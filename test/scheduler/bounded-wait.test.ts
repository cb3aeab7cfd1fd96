import { getEventListeners } from 'node:events';
import { AbortError, createScheduler, SchedulerClosedError, TimeoutError } from 'shardwheel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';

let scheduler: ReturnType<typeof createScheduler>;
beforeEach(() => {
  scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
});
afterEach(async () => {
  expect(scheduler.size).toBe(0); // no test leaves a timer behind
  await scheduler.close();
});

const never = () => new Promise<never>(() => {});

describe('timeout()', () => {
  test('comes to what the promise comes to, and cancels its timer', async () => {
    expect(await scheduler.timeout(Promise.resolve('value'), 10)).toBe('value');
    expect(scheduler.size).toBe(0);
    await expect(scheduler.timeout(Promise.reject(new RangeError('own')), 10)).rejects.toThrow('own');
  });

  test('a wait that is pending when the scheduler closes is rejected, its work told; a long-lived signal holds nothing', async () => {
    const closed = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
    const lasting = new AbortController();
    const reasons: unknown[] = [];
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return never();
    };
    const waits = Array.from({ length: 100 }, (_, i) =>
      closed.timeout(i % 2 === 0 ? never() : work, 1000, { signal: lasting.signal }),
    );
    const outcomes = Promise.allSettled(waits);
    expect((await closed.close()).length).toBe(100);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SCHEDULER_CLOSED' } });
      expect((outcome as PromiseRejectedResult).reason.message).toBe(
        'timeout() was pending when the scheduler was closed',
      );
    }
    expect(reasons.length).toBe(50);
    expect(reasons.every((reason) => reason instanceof SchedulerClosedError)).toBe(true);
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([]);
  });

  test('takes any thenable', async () => {
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    const thenable = { then: (resolve: (value: number) => void) => resolve(5) } as PromiseLike<number>;
    expect(await scheduler.timeout(thenable, 10)).toBe(5);
  });

  test('comes to what the function returns, promises, or throws', async () => {
    expect(await scheduler.timeout(() => 'value', 10)).toBe('value');
    expect(await scheduler.timeout(async () => 'later', 10)).toBe('later');
    const thrower = () => {
      throw new RangeError('thrown');
    };
    await expect(scheduler.timeout(thrower, 10)).rejects.toThrow('thrown');
  });

  test('rejects with a typed error when the time is up, not before', async () => {
    const outcome = vi.fn();
    const bounded = scheduler.timeout(never(), 10).catch(outcome);
    await scheduler.advanceTo(9);
    await turn();
    expect(outcome).not.toHaveBeenCalled();
    await scheduler.advanceTo(10);
    await bounded;
    const [error] = outcome.mock.calls[0];
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', name: 'TimeoutError', delay: 10 });
    expect(error.message).toBe('Timed out after 10 ms');
  });

  test('the function is told by its signal when the time is up, and by nothing when it is not', async () => {
    let signal: AbortSignal | undefined;
    const bounded = scheduler.timeout((given) => {
      signal = given;
      return never();
    }, 10);
    bounded.catch(() => {});
    expect(signal?.aborted).toBe(false);
    await scheduler.advanceTo(10);
    await expect(bounded).rejects.toBe(signal?.reason);
    expect(signal?.aborted).toBe(true);
    await scheduler.timeout((given) => {
      signal = given;
    }, 10);
    await scheduler.advanceTo(100);
    expect(signal?.aborted).toBe(false);
  });

  test('a promise that is rejected too late is no unhandled rejection', async () => {
    let reject: (error: Error) => void = () => {};
    const work = new Promise<never>((_, refuse) => {
      reject = refuse;
    });
    const bounded = scheduler.timeout(work, 10);
    bounded.catch(() => {});
    await scheduler.advanceTo(10);
    await expect(bounded).rejects.toThrow(TimeoutError);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    reject(new Error('too late'));
    await turn();
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('timeout() with a signal', () => {
  test('rejects as Node does, with the reason as cause, and leaves no timer and no listener', async () => {
    const controller = new AbortController();
    const bounded = scheduler.timeout(never(), 10, { signal: controller.signal });
    expect(scheduler.size).toBe(1);
    expect(getEventListeners(controller.signal, 'abort').length).toBe(1);
    controller.abort('the reason');
    const error = await bounded.catch((error) => error);
    expect(error).toBeInstanceOf(AbortError);
    expect(error).toMatchObject({ code: 'ABORT_ERR', name: 'AbortError', cause: 'the reason' });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('hands the reason to the function', async () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    const bounded = scheduler.timeout(
      (signal) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return never();
      },
      10,
      { signal: controller.signal },
    );
    controller.abort('the reason');
    await expect(bounded).rejects.toThrow(AbortError);
    expect(reasons).toEqual(['the reason']);
  });

  test('one that has aborted already is not listened to, and no work is begun', async () => {
    const work = vi.fn();
    const signal = AbortSignal.abort('early');
    await expect(scheduler.timeout(work, 10, { signal })).rejects.toMatchObject({ code: 'ABORT_ERR', cause: 'early' });
    expect(work).not.toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that never aborts keeps no listener, however the wait ends', async () => {
    const { signal } = new AbortController();
    await scheduler.timeout(Promise.resolve(), 10, { signal });
    await scheduler.timeout(Promise.reject(new Error('no')), 10, { signal }).catch(() => {});
    const late = scheduler.timeout(never(), 10, { signal });
    late.catch(() => {});
    await scheduler.advanceTo(10);
    await expect(late).rejects.toThrow(TimeoutError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('timeout() refuses', () => {
  test.each([undefined, null, 5, 'work', {}])('%o as work', async (work) => {
    await expect(scheduler.timeout(work as never, 10)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, '10', undefined])(
    '%o as delay, with nothing begun',
    async (delay) => {
      const work = vi.fn();
      await expect(scheduler.timeout(work, delay as never)).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
      expect(work).not.toHaveBeenCalled();
    },
  );

  test('work on a closed scheduler', async () => {
    await scheduler.close();
    await expect(scheduler.timeout(Promise.resolve(), 10)).rejects.toThrow(SchedulerClosedError);
  });
});

describe('signalAfter()', () => {
  test('aborts when its time is up, as AbortSignal.timeout does', async () => {
    const signal = scheduler.signalAfter(10);
    await scheduler.advanceTo(9);
    expect(signal.aborted).toBe(false);
    const aborted = vi.fn();
    signal.addEventListener('abort', aborted);
    await scheduler.advanceTo(10);
    expect(aborted).toHaveBeenCalledTimes(1);
    const native = AbortSignal.timeout(0);
    await new Promise((resolve) => native.addEventListener('abort', resolve));
    expect(signal.reason).toBeInstanceOf(TimeoutError);
    expect(signal.reason.name).toBe(native.reason.name); // by which programs tell it from other aborts
    expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('disposed, it never aborts and has no timer', async () => {
    let kept: AbortSignal;
    {
      using signal = scheduler.signalAfter(10);
      kept = signal;
      expect(scheduler.size).toBe(1);
    }
    expect(scheduler.size).toBe(0);
    await scheduler.advanceTo(20);
    expect(kept.aborted).toBe(false);
  });

  test('works with what takes a signal', async () => {
    const all = AbortSignal.any([scheduler.signalAfter(10), new AbortController().signal]);
    await scheduler.advanceTo(10);
    expect(all.aborted).toBe(true);
  });

  test('refuses what is no delay, and a closed scheduler', async () => {
    expect(() => scheduler.signalAfter(Number.NaN)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
    const signal = scheduler.signalAfter(10);
    await scheduler.close();
    expect(() => scheduler.signalAfter(1)).toThrow(SchedulerClosedError);
    signal[Symbol.dispose]();
  });
});
