import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { CapacityExceededError, createScheduler, InvalidConfigError, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';

const refusal = (capacity: number) =>
  expect.objectContaining({
    code: 'ERR_CAPACITY_EXCEEDED',
    shard: undefined,
    capacity,
    message: `The scheduler already holds its capacity of ${capacity} timers`,
  });

describe.each([0, 1, 3])('totalCapacity: shards %i', (shards) => {
  test('holds for all shards together, whatever starts a timer', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', totalCapacity: 10 });
    await scheduler.ready;
    const told: unknown[] = [];
    const listen = (message: unknown) => told.push(message);
    subscribe('shardwheel:capacity', listen);
    try {
      const ids = Array.from({ length: 10 }, (_, hint) => scheduler.schedule(hint, 100 + hint));
      const calls = [
        () => scheduler.schedule('one', 5),
        () => scheduler.scheduleAfter('one', 5),
        () => scheduler.scheduleAt('one', Date.now() + 5),
        () => scheduler.scheduleMany([1, 2], [5, 5]),
        () => scheduler.withSlack(10).schedule('one', 5),
        () => scheduler.label('label').schedule('one', 5),
        () => scheduler.label('scaled', { min: 1 }).scheduleAfter('one', 5),
        () => scheduler.group('one').schedule(5),
        () => scheduler.signalAfter(5),
        () => createTimers(scheduler).setTimeout(() => undefined, 5),
      ];
      for (const call of calls) {
        expect(call).toThrow(CapacityExceededError);
        expect(call).toThrow(refusal(10));
      }
      expect(scheduler.size).toBe(10);
      expect(told).toMatchObject([{ shard: undefined, capacity: 10, refused: 1 }]); // at most one a second

      // Moving needs no room; a timer that ends makes some.
      expect(scheduler.reschedule(ids[0], 1)).toBe(true);
      expect(await scheduler.advanceTo(1)).toBe(1);
      expect(scheduler.cancel(ids[1])).toBe(true);
      scheduler.scheduleMany([1, 2], [200, 200]);
      expect(() => scheduler.schedule('one', 5)).toThrow(refusal(10));
      expect(await scheduler.advanceTo(300)).toBe(10);
    } finally {
      unsubscribe('shardwheel:capacity', listen);
    }
  });

  test('scheduleMany starts all or none', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', totalCapacity: 3 });
    scheduler.schedule(0, 5);
    expect(() => scheduler.scheduleMany([1, 2, 3], [5, 5, 5])).toThrow(refusal(3));
    expect(scheduler.size).toBe(1);
  });
});

test('the capacity of a shard holds beside it', async () => {
  await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 2, totalCapacity: 100 });
  const call = () => {
    for (let hint = 0; hint < 5; hint++) scheduler.schedule(hint, 5);
  };
  expect(call).toThrow(/^Shard [01] already holds its capacity of 2 timers$/);
});

test('a client of another thread has a limit of its own', async () => {
  await using scheduler = createScheduler({ shards: 1, totalCapacity: 5 });
  await using limited = ClientThread.connect(scheduler.share(), { totalCapacity: 2 });
  await using unlimited = ClientThread.connect(scheduler.share());
  for (let i = 0; i < 5; i++) scheduler.scheduleAfter(i, 60_000);
  const startUntilRefused = ({ scheduler }: { scheduler: Scheduler }): [number, string] => {
    try {
      while (scheduler.size < 100) scheduler.scheduleAfter(scheduler.size, 60_000);
    } catch (error) {
      return [scheduler.size, (error as Error).message];
    }
    return [scheduler.size, ''];
  };
  expect(await limited.run(startUntilRefused)).toEqual([2, 'The scheduler already holds its capacity of 2 timers']);
  expect(await unlimited.run(startUntilRefused)).toEqual([100, '']);
});

test.each([0, -1, 1.5, Number.NaN, '5', 2 ** 53])('refuses %o', (totalCapacity) => {
  expect(() => createScheduler({ totalCapacity: totalCapacity as number })).toThrow(InvalidConfigError);
});
