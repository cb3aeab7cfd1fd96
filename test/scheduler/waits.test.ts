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

describe('withTimeout()', () => {
  test('comes to what the promise comes to, and cancels its timer', async () => {
    expect(await scheduler.withTimeout(Promise.resolve('value'), 10)).toBe('value');
    expect(scheduler.size).toBe(0);
    await expect(scheduler.withTimeout(Promise.reject(new RangeError('own')), 10)).rejects.toThrow('own');
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
      closed.withTimeout(i % 2 === 0 ? never() : work, 1000, { signal: lasting.signal }),
    );
    const outcomes = Promise.allSettled(waits);
    expect((await closed.close()).length).toBe(100);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SCHEDULER_CLOSED' } });
      expect((outcome as PromiseRejectedResult).reason.message).toBe(
        'withTimeout() was pending when the scheduler was closed',
      );
    }
    expect(reasons.length).toBe(50);
    expect(reasons.every((reason) => reason instanceof SchedulerClosedError)).toBe(true);
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([]);
  });

  test('takes any thenable', async () => {
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    const thenable = { then: (resolve: (value: number) => void) => resolve(5) } as PromiseLike<number>;
    expect(await scheduler.withTimeout(thenable, 10)).toBe(5);
  });

  test('comes to what the function returns, promises, or throws', async () => {
    expect(await scheduler.withTimeout(() => 'value', 10)).toBe('value');
    expect(await scheduler.withTimeout(async () => 'later', 10)).toBe('later');
    const thrower = () => {
      throw new RangeError('thrown');
    };
    await expect(scheduler.withTimeout(thrower, 10)).rejects.toThrow('thrown');
  });

  test('rejects with a typed error when the time is up, not before', async () => {
    const outcome = vi.fn();
    const bounded = scheduler.withTimeout(never(), 10).catch(outcome);
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
    const bounded = scheduler.withTimeout((given) => {
      signal = given;
      return never();
    }, 10);
    bounded.catch(() => {});
    expect(signal?.aborted).toBe(false);
    await scheduler.advanceTo(10);
    await expect(bounded).rejects.toBe(signal?.reason);
    expect(signal?.aborted).toBe(true);
    await scheduler.withTimeout((given) => {
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
    const bounded = scheduler.withTimeout(work, 10);
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

describe('withTimeout() with a signal', () => {
  test('rejects as Node does, with the reason as cause, and leaves no timer and no listener', async () => {
    const controller = new AbortController();
    const bounded = scheduler.withTimeout(never(), 10, { signal: controller.signal });
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
    const bounded = scheduler.withTimeout(
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
    await expect(scheduler.withTimeout(work, 10, { signal })).rejects.toMatchObject({
      code: 'ABORT_ERR',
      cause: 'early',
    });
    expect(work).not.toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that never aborts keeps no listener, however the wait ends', async () => {
    const { signal } = new AbortController();
    await scheduler.withTimeout(Promise.resolve(), 10, { signal });
    await scheduler.withTimeout(Promise.reject(new Error('no')), 10, { signal }).catch(() => {});
    const late = scheduler.withTimeout(never(), 10, { signal });
    late.catch(() => {});
    await scheduler.advanceTo(10);
    await expect(late).rejects.toThrow(TimeoutError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('withTimeout() refuses', () => {
  test.each([undefined, null, 5, 'work', {}])('%o as work', async (work) => {
    await expect(scheduler.withTimeout(work as never, 10)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, '10', undefined])(
    '%o as delay, with nothing begun',
    async (delay) => {
      const work = vi.fn();
      await expect(scheduler.withTimeout(work, delay as never)).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
      expect(work).not.toHaveBeenCalled();
    },
  );

  test('work on a closed scheduler', async () => {
    await scheduler.close();
    await expect(scheduler.withTimeout(Promise.resolve(), 10)).rejects.toThrow(SchedulerClosedError);
  });
});

describe('an outer deadline', () => {
  test('is named by the error with which it ends an inner wait, whatever signal it came by', async () => {
    const outcomes = await Promise.all([
      scheduler
        .withTimeout((signal) => scheduler.withTimeout(never(), 1000, { signal }).catch((error) => error), 1e6, {
          signal: scheduler.signalAfter(5, { label: scheduler.label('request') }),
        })
        .catch((error) => error),
      scheduler.sleep(1000, { signal: scheduler.signalAfter(7) }).catch((error) => error),
      scheduler.withTimeout(never(), 1000, { signal: AbortSignal.timeout(1) }).catch((error) => error),
      scheduler.advanceTo(10),
    ]);
    expect(outcomes.slice(0, 3).map(({ name, message, cause }) => [name, message, cause.name])).toEqual([
      [
        'AbortError',
        "The operation was aborted by an outer deadline: Timed out after 5 ms ('request')",
        'TimeoutError',
      ],
      ['AbortError', 'The operation was aborted by an outer deadline: Timed out after 7 ms', 'TimeoutError'],
      [
        'AbortError',
        expect.stringContaining('by an outer deadline: The operation was aborted due to timeout'),
        'TimeoutError',
      ],
    ]);
  });

  test('is one of the inner wait as well: nested calls', async () => {
    let inner: Error | undefined;
    const outer = scheduler.withTimeout(
      (signal) =>
        scheduler.withTimeout(never(), 1000, { signal }).catch((error) => {
          inner = error;
        }),
      5,
      { label: scheduler.label('outer') },
    );
    const outcome = outer.catch((error) => error);
    await scheduler.advanceTo(5);
    expect(await outcome).toEqual(new TimeoutError(5, 'outer'));
    await turn();
    expect(inner?.message).toBe("The operation was aborted by an outer deadline: Timed out after 5 ms ('outer')");
    expect(scheduler.size).toBe(0);
  });
});

describe('sleep()', () => {
  test('resolves when its time has come, and holds no timer then', async () => {
    let isOver = false;
    const slept = scheduler.sleep(10).then((value) => {
      isOver = true;
      return value;
    });
    await scheduler.advanceTo(9);
    expect([isOver, scheduler.size]).toEqual([false, 1]);
    await scheduler.advanceTo(10);
    expect([await slept, scheduler.size]).toEqual([undefined, 0]);
  });

  test('rejects by its signal, by close, and for what is no delay', async () => {
    const controller = new AbortController();
    const aborted = scheduler.sleep(10, { signal: controller.signal }).catch((error) => error);
    controller.abort('the reason');
    expect(await aborted).toMatchObject({
      code: 'ABORT_ERR',
      cause: 'the reason',
      message: 'The operation was aborted',
    });
    await expect(scheduler.sleep(Number.NaN)).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
    await expect(scheduler.sleep(5, { label: 'idle' as never })).rejects.toThrow(
      "The options.label must be a label of this scheduler: scheduler.label(name), got 'idle'",
    );
    const pending = scheduler.sleep(10).catch((error) => error);
    const [unfired] = await scheduler.close();
    expect(unfired.isSettled).toBe(true);
    expect((await pending).message).toBe('sleep() was pending when the scheduler was closed');
    await expect(scheduler.sleep(5)).rejects.toThrow(SchedulerClosedError);
  });
});

describe('a group as hint', () => {
  test('ends the waits among its timers when it is cancelled, and the signal of their work', async () => {
    const group = scheduler.group('connection');
    let given: AbortSignal | undefined;
    const waits = [
      scheduler.sleep(10, { workerHint: group }),
      scheduler.withTimeout(
        (signal) => {
          given = signal;
          return never();
        },
        10,
        { workerHint: group, label: scheduler.label('request') },
      ),
    ].map((wait) => wait.catch((error: Error) => error));
    const signal = scheduler.signalAfter(10, { workerHint: group });
    group.scheduleAfter(10);
    expect([group.size, group.cancelAll(), scheduler.size]).toEqual([4, 4, 0]);
    for (const error of await Promise.all(waits)) {
      expect(error).toMatchObject({
        code: 'ABORT_ERR',
        message: 'The operation was aborted with the group of its timer',
      });
    }
    expect(given?.aborted).toBe(true);
    await scheduler.advanceTo(100);
    expect(signal.aborted).toBe(false); // as if it were disposed
  });
});
