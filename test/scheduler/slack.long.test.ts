import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { manual } from './manual.ts';
import { dueTick } from './slack-model.ts';

const modes = [0, 1, 2, 'auto'] as const;

/** The ticks at which timers were delivered, in order, each with how many. */
async function firingTicks(scheduler: Scheduler, to: number, tick = 1): Promise<Map<number, number>> {
  const ticks = new Map<number, number>();
  for (let at = Math.floor(scheduler.now() / tick) + 1; at <= to; at++) {
    const fired = await scheduler.advanceTo(at * tick);
    if (fired > 0) ticks.set(at, fired);
  }
  return ticks;
}

/** The same after the model. */
function expectedTicks(deadlines: readonly number[], slack: number, tick = 1): Map<number, number> {
  const ticks = new Map<number, number>();
  const all = deadlines.map((deadline) => dueTick(deadline, slack, tick)).sort((one, other) => one - other);
  for (const due of all) ticks.set(due, (ticks.get(due) ?? 0) + 1);
  return ticks;
}

describe.each(modes)('slack: shards %s', (shards) => {
  test.each([
    [1, 100],
    [1, 63],
    [1, 1],
    [0.25, 10],
    [7.3, 100],
    [1, 2.5],
  ])('each timer comes with the very tick that the rule names, tick %f, slack %f', async (tick, slack) => {
    await using scheduler = await manual({ shards, tick, slack });
    const draws = new Draws(SEED);
    const deadlines = Array.from({ length: 400 }, () => draws.between(0, 300) * tick);
    const late: number[] = [];
    for (const deadline of deadlines) {
      scheduler.schedule(deadline, deadline, (at) => late.push(scheduler.now() - at), deadline);
    }
    expect(await firingTicks(scheduler, 460, tick)).toEqual(expectedTicks(deadlines, slack, tick));
    expect(late.length).toBe(400);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThan(slack + tick + 1e-9);
  });

  test('timers that lie close together take as many wakes as the window has granules, and one more', async () => {
    const window = 1000;
    for (const [slack, granule] of [
      [0, 1],
      [10, 8],
      [100, 64],
      [127, 128],
    ]) {
      await using scheduler = await manual({ shards, slack, capacity: 8192 });
      for (let i = 0; i < 5000; i++) scheduler.schedule(i, 7 + (i * window) / 5000);
      const ticks = await firingTicks(scheduler, 1200);
      expect(ticks.size).toBeLessThanOrEqual(Math.ceil(window / granule) + 1);
      const stats = await scheduler.stats();
      expect(stats.slack).toBe(slack);
      expect(stats.delivered).toBe(5000);
      // The shards of one tick may each bring a turn of their own.
      expect(stats.wakes).toBeGreaterThanOrEqual(ticks.size);
      expect(stats.wakes).toBeLessThanOrEqual(ticks.size * Math.max(1, stats.shards.length));
    }
  });

  test('nextExpiration() names the tick that the timer is due at with its slack', async () => {
    await using scheduler = createScheduler({ shards, slack: 100, clock: 'manual', capacity: 64 });
    const id = scheduler.schedule('a', 130);
    expect(await scheduler.nextExpiration()).toBe(192);
    await scheduler.advanceTo(191);
    expect([scheduler.has(id), scheduler.deadlineOf(id), await scheduler.nextExpiration()]).toEqual([true, 130, 192]);
    expect(await scheduler.advanceTo(192)).toBe(1);
  });

  test('a timer that waits for company is live: it can be moved, and cancelled, and is handed back', async () => {
    await using scheduler = await manual({ shards, slack: 1000 });
    const log: string[] = [];
    const [cancelled, moved, left] = ['cancelled', 'moved', 'left'].map((name) =>
      scheduler.schedule('a', 10, () => log.push(`${name} at ${scheduler.now()}`)),
    );
    await scheduler.advanceTo(500);
    expect([scheduler.cancel(cancelled), scheduler.reschedule(moved, 2000)]).toEqual([true, true]);
    expect(await scheduler.close()).toMatchObject([
      { id: moved, deadline: 2000 },
      { id: left, deadline: 10 },
    ]);
    expect(log).toEqual([]);
  });

  test('what has passed comes within what is left of its slack, else at the next tick', async () => {
    await using scheduler = await manual({ shards, slack: 63 });
    await scheduler.advanceTo(200);
    for (const deadline of [-1e300, 5, 127.5, 190, 199, 200]) scheduler.schedule(1, deadline);
    expect(await firingTicks(scheduler, 300)).toEqual(
      new Map([
        [201, 4],
        [256, 2],
      ]),
    );
  });

  test('a timer that was set before its thread was up keeps its tick', async () => {
    await using scheduler = createScheduler({ shards, slack: 100, clock: 'manual', capacity: 4096 });
    const deadlines = Array.from({ length: 200 }, (_, i) => 1 + i * 1.7);
    for (const deadline of deadlines.slice(0, 100)) scheduler.schedule(deadline, deadline);
    await scheduler.advanceTo(1); // the inline shard has taken them
    await scheduler.ready;
    for (const deadline of deadlines.slice(100)) scheduler.schedule(deadline, deadline);
    expect(await firingTicks(scheduler, 500)).toEqual(expectedTicks(deadlines, 100));
  });

  test('on the real clock: never early, delay or deadline', async () => {
    await using scheduler = createScheduler({ shards, slack: 20 });
    await scheduler.ready;
    const draws = new Draws(SEED);
    const early: number[] = [];
    let delivered = 0;
    const check = (deadline: number) => {
      delivered += 1;
      if (scheduler.now() < deadline) early.push(deadline);
    };
    const own = scheduler.label('own', { slack: 50 });
    for (let i = 0; i < 600; i++) {
      const delay = draws.between(0, 60);
      const deadline = scheduler.now() + delay;
      if (i % 3 === 0) scheduler.scheduleAfter(i, delay, check, deadline);
      if (i % 3 === 1) scheduler.schedule(i, deadline, check, deadline);
      if (i % 3 === 2) scheduler.rescheduleAfter(own.scheduleAfter(i, draws.between(0, 90), check, deadline), delay);
    }
    await until(() => scheduler.size === 0);
    expect({ delivered, early }).toEqual({ delivered: 600, early: [] });
  });
});

describe.each(modes)('slack 0: shards %s', (shards) => {
  test.each([1, 0.25, 7.3])('is the default, and due ticks are those of the deadlines, tick %f', async (tick) => {
    for (const options of [{}, { slack: 0 }, { slack: tick / 2 }]) {
      await using scheduler = await manual({ shards, tick, ...options });
      const { client } = internalsOf(scheduler);
      const draws = new Draws(SEED);
      for (let i = 0; i < 500; i++) {
        const deadline = draws.between(0, i % 7 === 0 ? 1e12 : 500) * tick;
        const id = scheduler.schedule(i, deadline);
        if (i % 3 === 0) scheduler.reschedule(id, deadline / 2);
        const asked = i % 3 === 0 ? deadline / 2 : deadline;
        const { table } = client.laneAt(scheduler.shardOf(i));
        const due = Math.max(1, client.scale.tickAtOrAfter(asked));
        expect([table.dueOf(table.slotOf(id)), table.deadlineOf(table.slotOf(id))]).toEqual([due | 0, asked]);
      }
      expect((await scheduler.stats()).slack).toBe(0);
    }
  });
});

describe.each([1, 2])('slack: shards %i', (shards) => {
  test('a shard that dies is built again with the ticks that its timers had', async () => {
    await using scheduler = await manual({ shards, slack: 100 });
    const deadlines = Array.from({ length: 300 }, (_, i) => 1 + i * 1.3);
    for (const deadline of deadlines) scheduler.schedule(deadline, deadline);
    const exact = scheduler.label('exact', { slack: 0 });
    for (let i = 0; i < 10; i++) exact.schedule(i, 301 + 2 * i);
    const before = await firingTicks(scheduler, 150); // of some the deadline has come, and not the tick
    for (let shard = 0; shard < shards; shard++) await restartShard(scheduler, shard);
    const after = await firingTicks(scheduler, 600);
    const expected = expectedTicks(deadlines, 100);
    for (let i = 0; i < 10; i++) expected.set(301 + 2 * i, 1 + (expected.get(301 + 2 * i) ?? 0));
    expect(new Map([...before, ...after])).toEqual(new Map([...expected].sort(([one], [other]) => one - other)));
  });
});
