import { CapacityExceededError, createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';

/** A hint that is placed on the shard. */
function hintFor(scheduler: Scheduler, shard: number): number {
  let hint = 0;
  while (scheduler.shardOf(hint) !== shard) hint += 1;
  return hint;
}

const refusal = (shard: number, capacity: number) =>
  expect.objectContaining({
    name: 'CapacityExceededError',
    code: 'ERR_CAPACITY_EXCEEDED',
    shard,
    capacity,
    message: `Shard ${shard} already holds its capacity of ${capacity} timers`,
  });

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each([0, 1, 2])('guarantee 9, capacity: shards %i', (shards) => {
  test.each([1, 2, 3, 5, 64])(
    'a full shard refuses, and every live timer is unaffected: capacity %i',
    async (capacity) => {
      await using scheduler = createScheduler({ shards, clock: 'manual', capacity });
      await scheduler.ready;
      let fired = 0;
      const count = () => {
        fired += 1;
      };
      const ids: number[] = [];
      const full = Math.max(1, shards);
      for (let shard = 0; shard < full; shard++) {
        const hint = hintFor(scheduler, shard);
        for (let i = 0; i < capacity; i++) ids.push(scheduler.schedule(hint, 100 + i, count));
        for (const call of [
          () => scheduler.schedule(hint, 5, count),
          () => scheduler.scheduleAfter(hint, 5, count),
          () => scheduler.scheduleMany([hint], [5]),
        ]) {
          const error = thrownBy(call);
          expect(error).toBeInstanceOf(CapacityExceededError);
          expect(error).toEqual(refusal(shard, capacity));
        }
      }
      expect(scheduler.size).toBe(full * capacity);
      expect(ids.map((id) => scheduler.deadlineOf(id))).toEqual(ids.map((_, i) => 100 + (i % capacity)));
      // Live timers can be moved and cancelled; one that ended makes room for one.
      expect(scheduler.reschedule(ids[0], 50)).toBe(true);
      expect(await scheduler.advanceTo(50)).toBe(1);
      const hint = hintFor(scheduler, 0);
      const next = scheduler.schedule(hint, 60, count);
      expect(thrownBy(() => scheduler.schedule(hint, 61, count))).toEqual(refusal(0, capacity));
      expect(scheduler.cancel(next)).toBe(true);
      scheduler.schedule(hint, 60, count);
      expect(await scheduler.advanceTo(10_000)).toBe(full * capacity);
      expect({ fired, size: scheduler.size }).toEqual({ fired: full * capacity + 1, size: 0 });
    },
  );

  test('a shard of one timer serves thousands, one after the other, on the real clock', async () => {
    await using scheduler = createScheduler({ shards, capacity: 1 });
    await scheduler.ready;
    let fired = 0;
    for (let i = 0; i < 5000; i++) {
      const id = scheduler.scheduleAfter('a', 1000, () => {
        fired += 1;
      });
      if (i % 2 === 0) scheduler.rescheduleAfter(id, 0);
      expect(scheduler.cancel(id)).toBe(true);
    }
    const rounds = 20;
    for (let round = 1; round <= rounds; round++) {
      scheduler.scheduleAfter('a', 0, () => {
        fired += 1;
      });
      expect(thrownBy(() => scheduler.scheduleAfter('a', 0))).toBeInstanceOf(CapacityExceededError);
      await until(() => fired === round);
    }
    expect(scheduler.size).toBe(0);
  });

  test('within its own callback a timer has made room already', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1 });
    await scheduler.ready;
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
