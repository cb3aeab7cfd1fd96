import { CapacityExceededError, type Scheduler } from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

/** A hint that is placed on the shard. */
function hintFor(scheduler: Scheduler, shard: number): number {
  let hint = 0;
  while (scheduler.shardOf(hint) !== shard) hint += 1;
  return hint;
}

function expectRefusal(call: () => unknown, shard: number, capacity: number): void {
  const message = `Shard ${shard} already holds its capacity of ${capacity} timers`;
  const known = { name: 'CapacityExceededError', code: 'ERR_CAPACITY_EXCEEDED', shard, capacity, message };
  expect(call).toThrow(CapacityExceededError);
  expect(call).toThrow(expect.objectContaining(known));
}

describe.each([0, 1, 2])('guarantee 9, capacity: shards %i', (shards) => {
  test.each([1, 2, 3, 5, 64])(
    'a full shard refuses, and every live timer is unaffected: capacity %i',
    async (capacity) => {
      await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity });
      const count = vi.fn();
      const ids: number[] = [];
      const full = Math.max(1, shards);
      for (let shard = 0; shard < full; shard++) {
        const hint = hintFor(scheduler, shard);
        for (let i = 0; i < capacity; i++) ids.push(scheduler.schedule(hint, 100 + i, count));
        expectRefusal(() => scheduler.schedule(hint, 5, count), shard, capacity);
        expectRefusal(() => scheduler.scheduleAfter(hint, 5, count), shard, capacity);
        expectRefusal(() => scheduler.scheduleMany([hint], [5]), shard, capacity);
      }
      expect(scheduler.size).toBe(full * capacity);
      expect(ids.map((id) => scheduler.deadlineOf(id))).toEqual(ids.map((_, i) => 100 + (i % capacity)));
      // Live timers can be moved and cancelled; one that ended makes room for one.
      expect(scheduler.reschedule(ids[0], 50)).toBe(true);
      expect(await scheduler.advanceTo(50)).toBe(1);
      const hint = hintFor(scheduler, 0);
      const next = scheduler.schedule(hint, 60, count);
      expectRefusal(() => scheduler.schedule(hint, 61, count), 0, capacity);
      expect(scheduler.cancel(next)).toBe(true);
      scheduler.schedule(hint, 60, count);
      expect(await scheduler.advanceTo(10_000)).toBe(full * capacity);
      expect(count).toHaveBeenCalledTimes(full * capacity + 1);
      expect(scheduler.size).toBe(0);
    },
  );

  test('a shard of one timer serves thousands, one after the other, on the real clock', async () => {
    await using scheduler = await readyScheduler({ shards, capacity: 1 });
    const fired = vi.fn();
    for (let i = 0; i < 5000; i++) {
      const id = scheduler.scheduleAfter('a', 1000, fired);
      if (i % 2 === 0) scheduler.rescheduleAfter(id, 0);
      expect(scheduler.cancel(id)).toBe(true);
    }
    const rounds = 20;
    for (let round = 1; round <= rounds; round++) {
      scheduler.scheduleAfter('a', 0, fired);
      expect(() => scheduler.scheduleAfter('a', 0)).toThrow(CapacityExceededError);
      await until(() => fired.mock.calls.length === round);
    }
    expect(scheduler.size).toBe(0);
  });

  test('within its own callback a timer has made room already', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1 });
    let fired = 0;
    const again = () => {
      fired += 1;
      if (fired < 50) scheduler.schedule('a', fired + 1, again);
    };
    scheduler.schedule('a', 1, again);
    for (let now = 1; now <= 50; now++) await scheduler.advanceTo(now);
    expect(fired).toBe(50);
  });
});
