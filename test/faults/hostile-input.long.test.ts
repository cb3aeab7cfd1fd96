import { CapacityExceededError, InvalidArgumentError, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { Tally } from '../fixtures/tally.ts';

describe.each([0, 2])('hostile input: shards %i', (shards) => {
  test('hints of a megabyte: placed by a bounded part of them, and the same each time', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 8192 });
    const hint = 'x'.repeat(2 ** 20);
    const other = `y${hint.slice(1)}`;
    const tally = new Tally(4000);
    for (let i = 0; i < 4000; i++) scheduler.schedule(i % 2 === 0 ? hint : other, 5, tally.add, i);
    expect(scheduler.shardOf(`${'x'.repeat(2 ** 19)}${'x'.repeat(2 ** 19)}`)).toBe(scheduler.shardOf(hint));
    expect(await scheduler.advanceTo(5)).toBe(4000);
    tally.expectEachOnce();
  });

  test('a million timers with one hint: one hot shard, a warning in stats, no failure', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual' });
    const count = 1_000_000;
    let fired = 0;
    scheduler.on('fired', ({ length }) => {
      fired += length;
    });
    const deadlines = Float64Array.from({ length: count }, (_, i) => 1 + (i % 1000));
    scheduler.scheduleMany(new Array(count).fill(7), deadlines);
    const { warnings } = await scheduler.stats();
    const message = `Shard ${scheduler.shardOf(7)} holds 1000000 of 1000000 live timers: too few different hints, or one that is used for most`;
    const warning = { code: 'HOT_SHARD', shard: scheduler.shardOf(7), message };
    expect(warnings).toEqual(shards === 0 ? [] : [warning]);
    expect(await scheduler.advanceTo(1000)).toBe(count);
    expect(fired).toBe(count);
    // As many, spread over hints, are nobody's fault.
    const hints = Int32Array.from({ length: 100_000 }, (_, i) => i);
    scheduler.scheduleMany(hints, new Float64Array(100_000).fill(5000));
    expect((await scheduler.stats()).warnings).toEqual([]);
  });

  test('callbacks that schedule 1,000 more: refused at the capacity, delivered up to it', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 5000 });
    let scheduled = 0;
    let refused = 0;
    let delivered = 0;
    const breed = () => {
      delivered += 1;
      for (let i = 0; i < 1000; i++) {
        try {
          scheduler.schedule(i, scheduler.now() + (i % 3), breed);
          scheduled += 1;
        } catch (error) {
          if (!(error instanceof CapacityExceededError)) throw error;
          refused += 1;
          return;
        }
      }
    };
    scheduler.schedule('a', 1, breed);
    for (let now = 1; now <= 6; now++) await scheduler.advanceTo(now);
    expect(refused).toBeGreaterThan(1000);
    expect(delivered).toBeGreaterThan(5000);
    expect(scheduler.size).toBe(scheduled + 1 - delivered);
    expect(scheduler.size).toBeLessThanOrEqual(5000 * Math.max(1, shards));
  });

  test("callbacks and listeners that always throw, the 'error' listener first of all", async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 4096, maxBatch: 16 });
    const uncaught: unknown[] = [];
    const own = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => uncaught.push(error));
    try {
      const tally = new Tally(1000);
      scheduler.on('fired', () => {
        throw new Error('a batch is refused');
      });
      scheduler.on('error', (error) => {
        throw error;
      });
      const throwing = (index: number) => {
        tally.add(index);
        throw new Error('a callback is refused');
      };
      for (let i = 0; i < 1000; i++) {
        scheduler.schedule(i, 1 + (i % 5), throwing, i);
        if (i % 10 === 0) scheduler.schedule(i, 3);
      }
      expect(await scheduler.advanceTo(10)).toBe(1100);
      tally.expectEachOnce();
      expect(uncaught.length).toBeGreaterThan(1000);
      const known = ['Error: a batch is refused', 'Error: a callback is refused'];
      expect(new Set(uncaught.map(String))).toEqual(new Set(known));
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of own) process.on('uncaughtException', listener);
    }
  });

  test('arrays that lie, and getters that close the scheduler', async () => {
    const scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const lying = { length: 3, 0: 5, 1: 6, 2: Number.NaN };
    expect(() => scheduler.scheduleMany([1, 2, 3], lying)).toThrow(RangeError);
    expect(() => scheduler.scheduleMany({ length: 2 ** 50 }, { length: 2 ** 50 })).toThrow(InvalidArgumentError);
    expect(scheduler.size).toBe(0);
    expect(scheduler.cancelMany({ length: 1000 } as never)).toBe(0);
    const changing = {
      length: 1,
      reads: 0,
      get 0(): number {
        return this.reads++ === 0 ? 50 : Number.NaN;
      },
    };
    const [id] = scheduler.scheduleMany([1], changing);
    expect(scheduler.deadlineOf(id)).toBe(50);
    const closing = {
      length: 2,
      0: id,
      get 1(): number {
        void scheduler.close();
        return 6;
      },
    };
    expect(() => scheduler.scheduleMany([1, 2], closing)).toThrow(SchedulerClosedError);
    expect(scheduler.cancelMany(closing)).toBe(0); // what only ends answers
    expect((await scheduler.close()).map((timer) => timer.id)).toEqual([id]);
    expect(scheduler.size).toBe(0);
  });
});
