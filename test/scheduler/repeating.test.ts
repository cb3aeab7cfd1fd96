import { AsyncLocalStorage } from 'node:async_hooks';
import { createScheduler, type MissedCalls, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

async function timesUntil(scheduler: Scheduler, end: number, start: (note: () => void) => unknown): Promise<number[]> {
  const times: number[] = [];
  start(() => times.push(scheduler.now()));
  for (let now = scheduler.now() + 1; now <= end; now++) await scheduler.advanceTo(now);
  return times;
}

describe.each([0, 1, 2])('scheduleEvery: shards %i', (shards) => {
  test.each([
    [undefined, [8, 15, 23, 30, 38], 45], // 7.5, 15, 22.5, …
    [0, [1, 8, 15, 23, 30, 38], 45],
    [3, [3, 11, 18, 26, 33], 40.5],
    [20, [20, 28, 35], 42.5],
  ])(
    'calls at start + first + (n − 1) · period, without drift, under one id, in its group: first %s',
    async (...of) => {
      const [first, times, next] = of;
      await using scheduler = await manual({ shards });
      const group = scheduler.group('connection');
      const seen: unknown[] = [];
      const call = (argument: string, id: number) => seen.push([scheduler.now(), argument, id, scheduler.has(id)]);
      const id = group.scheduleEvery(7.5, call, 'x', { first });
      for (let now = 1; now <= 40; now++) await scheduler.advanceTo(now);
      expect(seen).toEqual(times.map((time) => [time, 'x', id, true]));
      expect([scheduler.size, group.size, scheduler.deadlineOf(id)]).toEqual([1, 1, next]);
      expect(group.cancelAll()).toBe(1);
      expect(await scheduler.advanceTo(1000)).toBe(0);
      expect([scheduler.size, scheduler.has(id), scheduler.cancel(id)]).toEqual([0, false, false]);
      const counts = { scheduled: 1, delivered: times.length, cancelled: 1, size: 0, rescheduled: 0 };
      expect(await scheduler.stats()).toMatchObject(counts);
    },
  );

  test('in its callback it is live, and due at its next call; it may move itself, and the grid with it', async () => {
    await using scheduler = await manual({ shards });
    const seen: unknown[] = [];
    const times = await timesUntil(scheduler, 60, (note) =>
      scheduler.scheduleEvery('a', 10, (_, id) => {
        note();
        seen.push(scheduler.deadlineOf(id));
        if (scheduler.now() === 20) expect(scheduler.reschedule(id, 33)).toBe(true);
        if (scheduler.now() === 43) expect(scheduler.reschedule(id, 5)).toBe(true); // the past: the next tick
      }),
    );
    expect(times).toEqual([10, 20, 33, 43, 44, 55]); // the grid is that of 5 at last, whose 45 would be too near
    expect(seen).toEqual([20, 30, 43, 53, 55, 65]);
  });

  test('each call runs in the context that scheduled it; a throw does not end it, cancelling itself does', async () => {
    await using scheduler = await manual({ shards });
    const errors: unknown[] = [];
    scheduler.on('error', (error) => errors.push(error));
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const times = await timesUntil(scheduler, 60, (note) =>
      storage.run('request', () =>
        scheduler.scheduleEvery('a', 10, (_, id) => {
          note();
          seen.push(storage.getStore());
          if (scheduler.now() === 30) expect([scheduler.cancel(id), scheduler.has(id)]).toEqual([true, false]);
          throw new Error('thrown');
        }),
      ),
    );
    expect([times, errors.map(String)]).toEqual([[10, 20, 30], new Array(3).fill('Error: thrown')]);
    expect([seen, scheduler.size]).toEqual([['request', 'request', 'request'], 0]);
  });

  test.each<[MissedCalls, number[]]>([
    ['skip', [10, 45, 50, 60, 79, 90]], // 50 is half a period away, 80 is not
    ['burst', [10, 45, 45, 45, 50, 60, 79, 80, 90]],
    ['delay', [10, 45, 55, 79, 89]],
  ])(
    '▲ a jump of a manual clock counts as a blocked loop, after which skip goes on half a period away: %s',
    async (missedCalls, expected) => {
      await using scheduler = await manual({ shards });
      const times: number[] = [];
      scheduler.scheduleEvery('a', 10, () => times.push(scheduler.now()), undefined, { missedCalls });
      for (const now of [10, 45, 46, 50, 55, 60, 79, 80, 89, 90]) await scheduler.advanceTo(now, { jump: true });
      expect(times).toEqual(expected);
    },
  );

  test('a large burst is made within one advanceTo', async () => {
    await using scheduler = await manual({ shards });
    const due: (number | undefined)[] = [];
    scheduler.scheduleEvery('a', 3, (_, id) => due.push(scheduler.deadlineOf(id)), undefined, { missedCalls: 'burst' });
    expect(await scheduler.advanceTo(1000, { jump: true })).toBe(333);
    expect(due).toEqual(Array.from({ length: 333 }, (_, n) => 3 * (n + 2)));
  });

  test('without a callback each call arrives in a batch, under the same id', async () => {
    await using scheduler = await manual({ shards });
    const batches: unknown[] = [];
    scheduler.on('fired', ({ ids, deadlines, length, args }) => {
      for (let i = 0; i < length; i++) batches.push([ids[i], deadlines[i], args[i]]);
    });
    const id = scheduler.scheduleEvery('a', 10, undefined, 'argument');
    for (let now = 1; now <= 30; now++) await scheduler.advanceTo(now);
    expect(batches).toEqual([10, 20, 30].map((deadline) => [id, deadline, 'argument']));
  });

  test('slack delays a call, never the grid; a scale does not change a period', async () => {
    await using scheduler = await manual({ shards });
    const lazy = scheduler.label('lazy', { slack: 7, min: 1 });
    await lazy.setScale(0);
    const times = await timesUntil(scheduler, 60, (note) => lazy.scheduleEvery('a', 10, note));
    expect(times).toEqual([16, 24, 32, 40, 56]);
    await lazy.setScale(0.5);
    const [timer] = scheduler.liveTimers();
    expect(timer).toMatchObject({ deadline: 60, period: 10, label: 'lazy' });
    expect((await scheduler.stats()).labels).toMatchObject([
      { label: 'lazy', size: 1, scheduled: 1, delivered: 5, cancelled: 0 },
    ]);
    scheduler.cancel(timer.id as number);
    expect((await scheduler.stats()).labels[0]).toMatchObject({ size: 0, delivered: 5, cancelled: 1 });
  });

  test('close() hands it back with its period', async () => {
    const scheduler = await manual({ shards });
    const id = scheduler.scheduleEvery(7, 10, undefined, 'argument');
    scheduler.schedule(7, 100);
    await scheduler.advanceTo(35);
    const unfired = await scheduler.close();
    expect(unfired.sort((one, other) => one.deadline - other.deadline)).toMatchObject([
      { id, deadline: 40, period: 10, argument: 'argument' },
      { deadline: 100, period: undefined },
    ]);
  });

  test('a slot that changes hands repeats no more', async () => {
    await using scheduler = await manual({ shards, capacity: 1 });
    scheduler.cancel(scheduler.scheduleEvery('a', 5, () => undefined));
    const times: number[] = [];
    scheduler.schedule('a', 10, () => times.push(scheduler.now()));
    for (let now = 5; now <= 40; now += 5) await scheduler.advanceTo(now);
    expect([times, scheduler.size]).toEqual([[10], 0]);
  });
});

test('refuses unknown options, and a period of less than a tick; takes the largest times', async () => {
  await using scheduler = createScheduler({ shards: 0, tick: 4, capacity: 16 });
  const options = { frist: 5 } as never;
  expect(() => scheduler.scheduleEvery('a', 5, undefined, undefined, options)).toThrow("did you mean 'first'?");
  expect(() => scheduler.scheduleEvery('a', 3)).toThrow('ms, at least a tick of 4, got 3');
  expect(() => scheduler.scheduleEvery('a', 1e308, undefined, undefined, { first: 1.79e308 })).not.toThrow();
  expect(scheduler.size).toBe(1);
});
