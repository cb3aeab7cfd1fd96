import { createScheduler, SchedulerClosedError } from 'shardwheel';
import defaults, { createTimers, useScheduler } from 'shardwheel/timers';
import promiseDefaults, { setTimeout as sleep, scheduler as waits } from 'shardwheel/timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { pass } from '../fixtures/event-loop.ts';
import { UncaughtErrors } from '../fixtures/uncaught-errors.ts';

const manual = (shards: number) => createScheduler({ shards, clock: 'manual', capacity: 2 ** 16, maxBatch: 100 });

describe.each([0, 1])('a face on a manual clock: shards %i', (shards) => {
  test('advanceTo resolves when all callbacks have run, and what they have resolved has been told', async () => {
    await using scheduler = manual(shards);
    const { setTimeout, promises } = createTimers(scheduler);
    const seen: string[] = [];
    setTimeout(() => process.nextTick(() => queueMicrotask(() => seen.push('callback'))), 10);
    void promises.setTimeout(10).then(async () => {
      await null;
      seen.push('promise');
    });
    expect(await scheduler.advanceTo(9)).toBe(0);
    expect(seen).toEqual([]);
    expect(await scheduler.advanceTo(10)).toBe(2);
    expect(seen).toEqual(['callback', 'promise']);
  });

  test('it resolves all the same when callbacks are cleared before they run, or throw', async () => {
    await using scheduler = manual(shards);
    const { setTimeout, clearTimeout } = createTimers(scheduler);
    const seen: unknown[] = [];
    const caught: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => caught.push(error));
    const clearing = () => {
      seen.push('clearing');
      clearTimeout(cleared);
      throw new Error('from a callback');
    };
    setTimeout(clearing, 10);
    const cleared = setTimeout(() => seen.push('never'), 10);
    setTimeout(() => seen.push('last'), 10);
    await scheduler.advanceTo(10);
    for (const listener of listeners) process.on('uncaughtException', listener);
    expect(seen).toEqual(['clearing', 'last']);
    expect(caught.map(String)).toEqual(['Error: from a callback']);
    expect(scheduler.size).toBe(0);
  });

  test('what a callback that throws has set in motion comes before the next timer', async () => {
    await using scheduler = manual(shards);
    const { setTimeout } = createTimers(scheduler);
    using uncaught = new UncaughtErrors();
    const seen: unknown[] = [];
    setTimeout(() => {
      queueMicrotask(() => process.nextTick(() => seen.push('tick')));
      throw new Error('from a callback');
    }, 10);
    setTimeout(() => seen.push('next'), 10);
    await scheduler.advanceTo(10);
    expect(seen).toEqual(['tick', 'next']);
    expect(uncaught.errors.map(String)).toEqual(['Error: from a callback']);
  });

  test('they count in the scheduler, and are a row of their own', async () => {
    await using scheduler = manual(shards);
    const { setTimeout, clearTimeout } = createTimers(scheduler);
    scheduler.schedule(1, 50);
    const named = () => undefined;
    const [first, second] = [setTimeout(named, 20), setTimeout(named, 30)];
    setTimeout(named, 40).refresh();
    expect([scheduler.size, await scheduler.nextExpiration()]).toEqual([4, 20]);
    const rows = [...scheduler.liveTimers()].filter(({ label }) => label === '(drop-in)');
    expect(rows.map(({ id, shard, deadline, callback }) => [id, shard, deadline, callback])).toEqual(
      [20, 30, 40].map((deadline) => [undefined, undefined, deadline, 'named']),
    );
    clearTimeout(first);
    expect(await scheduler.nextExpiration()).toBe(30);
    await scheduler.advanceTo(35);
    const { size, scheduled, rescheduled, cancelled, delivered, labels } = await scheduler.stats();
    expect({ size, scheduled, rescheduled, cancelled, delivered }).toEqual({
      size: 2,
      scheduled: 4,
      rescheduled: 1,
      cancelled: 1,
      delivered: 1,
    });
    const [row] = labels;
    expect([row.label, row.size, row.scheduled, row.cancelled, row.delivered, row.lateness.count]).toEqual([
      '(drop-in)',
      1,
      3,
      1,
      1,
      1,
    ]);
    clearTimeout(second);
  });

  test('ten thousand timeouts of one tick, some refreshed, run in the order of their setting', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 2 ** 16, maxBatch: 20_000 });
    const { setTimeout } = createTimers(scheduler);
    const order: number[] = [];
    const timeouts = Array.from({ length: 10_000 }, (_, i) => setTimeout(() => order.push(i), 50));
    await scheduler.advanceTo(20);
    const kept = timeouts.map((_, i) => i).filter((i) => i % 3 !== 0);
    const moved = timeouts.map((_, i) => i).filter((i) => i % 3 === 0);
    for (const i of moved.reverse()) timeouts[i].refresh();
    setTimeout(() => order.push(-1), 50);
    await scheduler.advanceTo(50);
    expect(order).toEqual(kept);
    await scheduler.advanceTo(70);
    expect(order).toEqual([...kept, ...moved, -1]);
  });

  // Words tell ticks apart that are less than 2^31 from each other; a jump may pass more.
  test.each([2, 3, 4, 5, 6, 9])('a refresh while a jump of %i times 2^30 ms goes by keeps its delay', async (words) => {
    await using scheduler = manual(shards);
    const { setTimeout } = createTimers(scheduler);
    const seen: unknown[] = [];
    const told = (name: string) => () => seen.push([name, scheduler.now()]);
    setTimeout(() => [same, later].map((timeout) => timeout.refresh()), 10);
    const same = setTimeout(told('of the same tick'), 10);
    const later = setTimeout(told('later'), 20);
    const now = words * 2 ** 30 + 5;
    await scheduler.advanceTo(now, { jump: true });
    expect(seen).toEqual([]);
    await scheduler.advanceTo(now + 30);
    expect(seen).toEqual([
      ['of the same tick', now + 10],
      ['later', now + 20],
    ]);
  });

  test('an infinite delay is the end of the clock', async () => {
    await using scheduler = manual(shards);
    createTimers(scheduler).setTimeout(() => {}, Number.POSITIVE_INFINITY);
    expect(await scheduler.nextExpiration()).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('a scheduler that was closed takes no timers, and those that it had can be cleared', async () => {
    const scheduler = manual(shards);
    const { setTimeout, setInterval, clearTimeout } = createTimers(scheduler);
    const timeouts = [setTimeout(() => {}, 10), setInterval(() => {}, 10).unref()];
    expect(await scheduler.close()).toEqual([]);
    for (const timeout of timeouts) clearTimeout(timeout.ref().unref());
    expect(() => setTimeout(() => {}, 10)).toThrow(SchedulerClosedError);
    expect(() => createTimers(scheduler)).toThrow(SchedulerClosedError);
    expect(scheduler.size).toBe(0);
  });
});

describe('useScheduler', () => {
  afterEach(() => useScheduler());

  test("the module's functions run on the given scheduler, and then on their own again", async () => {
    await using scheduler = manual(0);
    useScheduler(scheduler);
    const seen: string[] = [];
    defaults.setTimeout(() => seen.push('callback'), 1000);
    void sleep(2000).then(() => seen.push('promise'));
    void waits.wait(3000).then(() => seen.push('wait'));
    await scheduler.advanceTo(1000);
    expect(seen).toEqual(['callback']);
    await scheduler.advanceTo(3000);
    expect(seen).toEqual(['callback', 'promise', 'wait']);
    const left = defaults.setTimeout(() => seen.push('never'), 10);
    useScheduler();
    expect(scheduler.size).toBe(1);
    defaults.clearTimeout(left);
    expect(scheduler.size).toBe(0);
    await new Promise<void>((resolve) => defaults.setTimeout(resolve, 1));
    await pass(20);
    expect(seen.length).toBe(3);
  });

  test('is given a scheduler, or nothing', () => {
    for (const bad of [null, {}, 'scheduler', 5] as never[]) {
      expect(() => useScheduler(bad)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
      expect(() => createTimers(bad)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
    }
  });

  test('the entry points export one face', () => {
    expect(defaults.promises).toBe(promiseDefaults);
    expect(promiseDefaults.setTimeout).toBe(sleep);
  });
});
