import { getEventListeners } from 'node:events';
import { createScheduler, SchedulerClosedError, TimeoutError } from 'shardwheel';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

let scheduler: ReturnType<typeof createScheduler>;
beforeEach(() => {
  scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
});
afterEach(async () => {
  expect(scheduler.size).toBe(0); // no test leaves a timer behind
  await scheduler.close();
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

describe('signalAfter() with a signal', () => {
  test('aborts with it, and holds neither timer nor listener then', async () => {
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
