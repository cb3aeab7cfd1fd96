import { getEventListeners } from 'node:events';
import { AbortError, type Scheduler, SchedulerClosedError, TimeoutError } from 'shardwheel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

let scheduler: Scheduler;
beforeEach(async () => {
  scheduler = await manual({ shards: 0 });
});
afterEach(async () => {
  expect(scheduler.size).toBe(0); // no test leaves a timer behind
  await scheduler.close();
});

const never = () => new Promise<never>(() => {});
/** What a wait has been rejected with. */
const reasonOf = (wait: Promise<unknown>): Promise<Error> =>
  wait.then(() => expect.fail('it has resolved')).catch((error) => error);

const thrower = () => {
  throw new RangeError('own');
};

describe('withTimeout()', () => {
  // biome-ignore lint/suspicious/noThenProperty: that is what is tested
  const thenable = { then: (resolve: (value: string) => void) => resolve('value') } as PromiseLike<string>;

  test.each([Promise.resolve('value'), thenable, () => 'value', async () => 'value'])(
    'comes to what the work comes to, and cancels its timer: %o',
    async (work) => {
      expect(await scheduler.withTimeout(work, 10)).toBe('value');
      expect(scheduler.size).toBe(0);
    },
  );

  test('rejects as the promise does, or as the function throws', async () => {
    await expect(scheduler.withTimeout(Promise.reject(new RangeError('own')), 10)).rejects.toThrow('own');
    await expect(scheduler.withTimeout(thrower, 10)).rejects.toThrow('own');
  });

  test('a wait that is pending when the scheduler closes is rejected, its work told; a long-lived signal holds nothing', async () => {
    const lasting = new AbortController();
    const reasons: unknown[] = [];
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return never();
    };
    const waits = Array.from({ length: 100 }, (_, i) =>
      reasonOf(scheduler.withTimeout(i % 2 === 0 ? never() : work, 1000, { signal: lasting.signal })),
    );
    expect((await scheduler.close()).length).toBe(100);
    const message = 'withTimeout() was pending when the scheduler was closed';
    for (const reason of await Promise.all(waits))
      expect(reason).toMatchObject({ code: 'ERR_SCHEDULER_CLOSED', message });
    expect(reasons.length).toBe(50);
    expect(reasons.every((reason) => reason instanceof SchedulerClosedError)).toBe(true);
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([]);
  });

  test('rejects with a typed error when the time is up, not before, and tells the function by its signal', async () => {
    const outcome = vi.fn();
    let signal: AbortSignal | undefined;
    const bounded = scheduler
      .withTimeout((given) => {
        signal = given;
        return never();
      }, 10)
      .catch(outcome);
    await scheduler.advanceTo(9);
    await turn();
    expect(outcome).not.toHaveBeenCalled();
    expect(signal?.aborted).toBe(false);
    await scheduler.advanceTo(10);
    await bounded;
    const [error] = outcome.mock.calls[0];
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', name: 'TimeoutError', delay: 10 });
    expect(error.message).toBe('Timed out after 10 ms');
    expect(signal?.reason).toBe(error);
    const inTime = await scheduler.withTimeout((given) => given, 10);
    await scheduler.advanceTo(100);
    expect(inTime.aborted).toBe(false);
  });

  test('a promise that is rejected too late is no unhandled rejection', async () => {
    let reject: (error: Error) => void = () => {};
    const work = new Promise<never>((_, refuse) => {
      reject = refuse;
    });
    const reason = reasonOf(scheduler.withTimeout(work, 10));
    await scheduler.advanceTo(10);
    expect(await reason).toBeInstanceOf(TimeoutError);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    reject(new Error('too late'));
    await turn();
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('refuses a delay with nothing begun, and any work on a closed scheduler', async () => {
    const work = vi.fn();
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    for (const each of [work, thenable, Promise.reject(new Error('handled'))])
      await expect(scheduler.withTimeout(each, Number.NaN)).rejects.toMatchObject({ code: 'ERR_INVALID_DEADLINE' });
    await turn();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await scheduler.close();
    for (const each of [work, Promise.resolve()])
      await expect(scheduler.withTimeout(each, 10)).rejects.toThrow(SchedulerClosedError);
    expect(work).not.toHaveBeenCalled();
  });
});

describe('withTimeout() with a signal', () => {
  test('rejects as Node does, with the reason as cause, hands it to the function, and leaves no listener', async () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      return never();
    };
    const waits = [work, never()].map((work) =>
      reasonOf(scheduler.withTimeout(work, 10, { signal: controller.signal })),
    );
    expect([scheduler.size, getEventListeners(controller.signal, 'abort').length]).toEqual([2, 1]);
    controller.abort('the reason');
    for (const error of await Promise.all(waits)) {
      expect(error).toBeInstanceOf(AbortError);
      expect(error).toMatchObject({ code: 'ABORT_ERR', name: 'AbortError', cause: 'the reason' });
    }
    expect(reasons).toEqual(['the reason']);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('one that has aborted already is not listened to, and no work is begun', async () => {
    const work = vi.fn();
    const signal = AbortSignal.abort('early');
    const refusal = { code: 'ABORT_ERR', cause: 'early' };
    await expect(scheduler.withTimeout(work, 10, { signal })).rejects.toMatchObject(refusal);
    expect(work).not.toHaveBeenCalled();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('that never aborts keeps no listener, however the wait ends', async () => {
    const { signal } = new AbortController();
    await scheduler.withTimeout(Promise.resolve(), 10, { signal });
    await reasonOf(scheduler.withTimeout(Promise.reject(new Error('no')), 10, { signal }));
    const late = reasonOf(scheduler.withTimeout(never(), 10, { signal }));
    await scheduler.advanceTo(10);
    expect(await late).toBeInstanceOf(TimeoutError);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

test('an outer deadline is named by the error with which it ends an inner wait, whatever signal it came by', async () => {
  const label = scheduler.label('request');
  const outer = scheduler.signalAfter(5, { label });
  const inner: Promise<Error>[] = [];
  const nested = scheduler.withTimeout(
    (signal) => {
      inner.push(reasonOf(scheduler.withTimeout(never(), 1000, { signal })));
      return never();
    },
    5,
    { label },
  );
  const outcomes = Promise.all([
    reasonOf(scheduler.withTimeout(never(), 1e6, { signal: outer })),
    reasonOf(scheduler.sleep(1000, { signal: scheduler.signalAfter(7) })),
    reasonOf(scheduler.withTimeout(never(), 1000, { signal: AbortSignal.timeout(1) })),
    inner[0],
  ]);
  const ended = reasonOf(nested);
  await scheduler.advanceTo(10);
  expect(await ended).toEqual(new TimeoutError(5, 'request'));
  const by = (what: string) => `The operation was aborted by an outer deadline: ${what}`;
  expect((await outcomes).map(({ name, message, cause }) => [name, message, (cause as Error).name])).toEqual(
    [
      by("Timed out after 5 ms ('request')"),
      by('Timed out after 7 ms'),
      expect.stringContaining(by('The operation was aborted due to timeout')),
      by("Timed out after 5 ms ('request')"),
    ].map((message) => ['AbortError', message, 'TimeoutError']),
  );
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

  test('rejects by its signal, and by close', async () => {
    const controller = new AbortController();
    const aborted = reasonOf(scheduler.sleep(10, { signal: controller.signal }));
    controller.abort('the reason');
    const message = 'The operation was aborted';
    expect(await aborted).toMatchObject({ code: 'ABORT_ERR', cause: 'the reason', message });
    const pending = reasonOf(scheduler.sleep(10));
    const [unfired] = await scheduler.close();
    expect(unfired.isSettled).toBe(true);
    expect((await pending).message).toBe('sleep() was pending when the scheduler was closed');
    await expect(scheduler.sleep(5)).rejects.toThrow(SchedulerClosedError);
  });
});

test('a group as hint ends the waits among its timers when it is cancelled, and the signal of their work', async () => {
  const group = scheduler.group('connection');
  let given: AbortSignal | undefined;
  const work = (signal: AbortSignal) => {
    given = signal;
    return never();
  };
  const options = { workerHint: group, label: scheduler.label('request') };
  const waits = [
    reasonOf(scheduler.sleep(10, { workerHint: group })),
    reasonOf(scheduler.withTimeout(work, 10, options)),
  ];
  const signal = scheduler.signalAfter(10, { workerHint: group });
  group.scheduleAfter(10);
  expect([group.size, group.cancelAll(), scheduler.size]).toEqual([4, 4, 0]);
  const message = 'The operation was aborted: its timer was cancelled with its group';
  for (const error of await Promise.all(waits)) expect(error).toMatchObject({ code: 'ABORT_ERR', message });
  expect(given?.aborted).toBe(true);
  await scheduler.advanceTo(100);
  expect(signal.reason).toMatchObject({ code: 'ABORT_ERR', message });
});

describe('signalAfter()', () => {
  test('aborts when its time is up, as AbortSignal.timeout does', async () => {
    const signal = scheduler.signalAfter(10);
    const any = AbortSignal.any([signal, new AbortController().signal]);
    await scheduler.advanceTo(9);
    expect(signal.aborted).toBe(false);
    const aborted = vi.fn();
    signal.addEventListener('abort', aborted);
    await scheduler.advanceTo(10);
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(any.aborted).toBe(true);
    const native = AbortSignal.timeout(0);
    await new Promise((resolve) => native.addEventListener('abort', resolve));
    expect(signal.reason).toBeInstanceOf(TimeoutError);
    expect(signal.reason).toEqual(new TimeoutError(10));
    expect(signal.reason.name).toBe(native.reason.name); // by which programs tell it from other aborts
    expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('disposed, it never aborts and has no timer; a closed scheduler gives none', async () => {
    let kept: AbortSignal;
    {
      using signal = scheduler.signalAfter(10);
      kept = signal;
      expect(scheduler.size).toBe(1);
    }
    expect(scheduler.size).toBe(0);
    await scheduler.advanceTo(20);
    expect(kept.aborted).toBe(false);
    using late = scheduler.signalAfter(10); // disposed after the close, which throws nothing
    await scheduler.close();
    expect(late.aborted).toBe(false);
    expect(() => scheduler.signalAfter(1)).toThrow(SchedulerClosedError);
  });

  test('with a signal aborts with it, and holds neither timer nor listener then', async () => {
    const controller = new AbortController();
    const signal = scheduler.signalAfter(10, { signal: controller.signal });
    expect([scheduler.size, getEventListeners(controller.signal, 'abort').length]).toEqual([1, 1]);
    controller.abort('the reason');
    expect([signal.aborted, signal.reason, scheduler.size]).toEqual([true, 'the reason', 0]);
    const late = scheduler.signalAfter(10, { signal: controller.signal });
    expect([late.aborted, late.reason, scheduler.size]).toEqual([true, 'the reason', 0]);
    const other = new AbortController();
    const expired = scheduler.signalAfter(10, { signal: other.signal });
    using disposed = scheduler.signalAfter(10, { signal: other.signal });
    disposed[Symbol.dispose]();
    await scheduler.advanceTo(10);
    expect([expired.reason, disposed.aborted]).toEqual([new TimeoutError(10), false]);
    expect(getEventListeners(other.signal, 'abort')).toEqual([]);
  });
});
