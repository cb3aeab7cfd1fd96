import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { dueTick } from '../scheduler/slack-model.ts';

describe.each([0, 1, 'auto'] as const)('drop-in timers on a scheduler with slack, shards %s', (shards) => {
  test('come together, never early, by the tick that the rule names', async () => {
    await using scheduler = createScheduler({ shards, slack: 63, clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const { setTimeout, promises } = createTimers(scheduler);
    const fired: [number, number][] = [];
    for (let delay = 1; delay <= 300; delay++) setTimeout(() => fired.push([delay, scheduler.now()]), delay);
    void promises.setTimeout(70).then(() => fired.push([70, scheduler.now()]));
    for (let now = 1; now <= 400; now++) await scheduler.advanceTo(now);
    const expected = Array.from({ length: 300 }, (_, i) => [i + 1, dueTick(i + 1, 63, 1)]);
    expect(fired.length).toBe(301);
    expect(fired.sort(([one], [other]) => one - other)).toEqual(
      [...expected, [70, 128]].sort(([one], [other]) => one - other),
    );
  });

  test('those that come together run as in Node: by the times that were asked for', async () => {
    await using scheduler = createScheduler({ shards, slack: 127, clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const { setTimeout } = createTimers(scheduler);
    const order: string[] = [];
    const moved = setTimeout(() => order.push('moved'), 90);
    for (const delay of [100, 90, 3, 128, 90]) setTimeout(() => order.push(`${delay}`), delay);
    moved.refresh();
    await scheduler.advanceTo(127);
    expect(order).toEqual([]);
    await scheduler.advanceTo(128);
    expect(order).toEqual(['3', '90', '90', 'moved', '100', '128']);
  });

  test('so they do when several turns deliver them, and some were refreshed', async () => {
    const options = { shards, slack: 127, maxBatch: 100, clock: 'manual', capacity: 4096 } as const;
    await using scheduler = createScheduler(options);
    await scheduler.ready;
    const { setTimeout } = createTimers(scheduler);
    const order: string[] = [];
    const moved: NodeJS.Timeout[] = [];
    for (let i = 0; i < 300; i++) {
      moved.push(setTimeout(() => order.push(`moved ${i}`), 90));
      setTimeout(() => order.push(`${i}`), 50);
    }
    for (const timeout of moved.reverse()) timeout.refresh();
    await scheduler.advanceTo(128);
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    expect(order).toEqual([...numbers.map(String), ...numbers.reverse().map((i) => `moved ${i}`)]);
  });

  test('intervals do not drift by it', async () => {
    await using scheduler = createScheduler({ shards, slack: 15, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const { setInterval, clearInterval } = createTimers(scheduler);
    const calls: number[] = [];
    const interval = setInterval(() => calls.push(scheduler.now()), 100);
    for (let now = 1; now <= 1100; now++) await scheduler.advanceTo(now);
    clearInterval(interval);
    expect(calls).toEqual(Array.from({ length: 10 }, (_, i) => dueTick((i + 1) * 100, 15, 1)));
  });
});

describe.each([0, 1])('timeouts on a scheduler with slack and a real clock, shards %i', (shards) => {
  test('take few wakes, are not early, and neither are those that were refreshed', async () => {
    await using scheduler = createScheduler({ shards, slack: 127 });
    await scheduler.ready;
    const { setTimeout, clearTimeout } = createTimers(scheduler);
    const late: number[] = [];
    const set = (delay: number) => {
      const deadline = scheduler.now() + delay;
      return setTimeout(() => late.push(scheduler.now() - deadline), delay);
    };
    const begun = scheduler.now();
    for (let i = 0; i < 300; i++) {
      set(1 + (i % 150));
      clearTimeout(set(1 + (i % 150)));
      if (i % 10 === 0) set(5).refresh();
      if (i % 100 === 99) await pass(3);
    }
    await until(() => scheduler.size === 0);
    expect(late.length).toBe(330);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    const { wakes, delivered } = await scheduler.stats();
    expect(delivered).toBe(330);
    // Some turns for each multiple of 128 ms on the way; for each ms there would be 150 and more.
    expect(wakes).toBeLessThanOrEqual(4 * ((scheduler.now() - begun) / 128 + 2));
  });

  test.each([1, 2, 5, 6, 40])('have a turn by the tick that the rule names, slack %i', async (slack) => {
    await using scheduler = createScheduler({ shards, slack });
    await scheduler.ready;
    const { setTimeout } = createTimers(scheduler);
    const { turnClock, home, scale } = internalsOf(scheduler).client;
    const draws = new Draws(SEED);
    const late = new Set<string>();
    let checks = 0;
    const check = () => {
      checks += 1;
      const due = scale.timeOf(home.nextDue());
      if (turnClock.comesBy > due) late.add(`due at ${due}, turn at ${turnClock.comesBy}`);
    };
    for (let i = 0; i < 200; i++) {
      setTimeout(() => setImmediate(check), draws.below(100) + 1);
      check();
    }
    await until(() => checks === 400);
    expect([...late], `seed ${SEED}`).toEqual([]);
  });

  test('that are near wait for their tick', async () => {
    await using scheduler = createScheduler({ shards, slack: 7 });
    await scheduler.ready;
    const { setTimeout } = createTimers(scheduler);
    const early: number[] = [];
    let fired = 0;
    for (let i = 0; i < 400; i++) {
      const due = dueTick(scheduler.now() + 1 + (i % 5), 7, 1); // at the earliest: the clock is read again
      setTimeout(
        () => {
          fired += 1;
          if (scheduler.now() < due) early.push(due - scheduler.now());
        },
        1 + (i % 5),
      );
      if (i % 4 === 3) await pass(1);
    }
    await until(() => scheduler.size === 0);
    expect({ fired, early }).toEqual({ fired: 400, early: [] });
  });

  test('wait for company, however far', async () => {
    await using scheduler = createScheduler({ shards, slack: 2 ** 20 });
    await scheduler.ready;
    const { setTimeout } = createTimers(scheduler);
    let fired = 0;
    for (let i = 0; i < 1000; i++) setTimeout(() => (fired += 1), 1);
    await pass(30);
    const { shards: stats, size } = await scheduler.stats();
    expect([fired, size, stats.reduce((sum, { commands }) => sum + commands, 0)]).toEqual([0, 1000, 0]);
    expect(await scheduler.nextExpiration()).toBe(2 ** 20);
  });
});
