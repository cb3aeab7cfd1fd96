import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, turn, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { killShard, restartShard } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

describe.each([1, 2])('guarantee 3, exactly once, when threads die: shards %i', (shards) => {
  test(`threads are killed in the middle, while timers are scheduled, moved and cancelled, seed ${SEED}`, async () => {
    // so that the first to be killed serves already
    await using scheduler = await readyScheduler({ shards, capacity: 65_536 });
    const draws = new Draws(SEED);
    const count = 30_000;
    const tally = new Tally(count);
    const restarts: { shard: number; rescheduled: number; cause: Error }[] = [];
    scheduler.on('shard-restart', (restart) => restarts.push(restart));
    const ids: number[] = [];
    let kills = 0;
    for (let i = 0; i < count; i++) {
      ids.push(scheduler.scheduleAfter(i, draws.between(0, 400), tally.add, i));
      const other = draws.below(ids.length);
      if (draws.below(4) === 0 && scheduler.cancel(ids[other])) tally.add(other);
      if (draws.below(4) === 0) scheduler.rescheduleAfter(ids[draws.below(ids.length)], draws.between(0, 400));
      if (i % 100 === 0) await turn();
      if (i % 6000 === 5999 && killShard(scheduler, draws.below(shards))) kills += 1;
    }
    for (let shard = 0; shard < shards; shard++) kills += killShard(scheduler, shard) ? 1 : 0;
    await until(() => scheduler.size === 0);
    await pass(20);
    tally.expectEachOnce();
    await until(() => restarts.length > 0);
    expect(kills).toBeGreaterThan(0);
    for (const { shard, rescheduled, cause } of restarts) {
      expect(shard).toBeLessThan(shards);
      expect(rescheduled).toBeGreaterThanOrEqual(0);
      expect(cause).toBeInstanceOf(Error);
    }
  });

  test("'shard-restart' tells shard, cause and how many live timers were indexed anew", async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024 });
    const tally = new Tally(300);
    const ids = Array.from({ length: 300 }, (_, i) => scheduler.schedule(i, 100 + i, tally.add, i));
    for (let i = 0; i < 100; i++) if (scheduler.cancel(ids[i])) tally.add(i);
    await scheduler.advanceTo(219); // 100 … 219 are due, of which 0 … 99 are cancelled
    const shard = shards - 1;
    const left = ids.filter((id, i) => scheduler.has(id) && scheduler.shardOf(i) === shard).length;
    const restart = await restartShard(scheduler, shard);
    expect(restart).toEqual({ shard, rescheduled: left, cause: expect.any(Error), deaths: 1 });
    expect(restart.cause.message).toBe(`The thread of shard ${shard} exited with code 1`);
    expect((await scheduler.wheels())[shard].lanes[0].filed).toBe(left);
    expect(await scheduler.advanceTo(1000)).toBe(180);
    tally.expectEachOnce();
    const stats = await scheduler.stats();
    expect(stats.shards.map(({ restarts }) => restarts)).toEqual(shards === 1 ? [1] : [0, 1]);
  });

  test('a thread is killed with a full batch on its way, and the loop is blocked meanwhile', async () => {
    await using scheduler = await readyScheduler({ shards });
    const tally = Tally.of(scheduler, 20_000, (i) => 50 + i / 200);
    await pass(20);
    blockLoop(80); // half is fired, none is delivered
    for (let shard = 0; shard < shards; shard++) killShard(scheduler, shard);
    blockLoop(100);
    await until(() => scheduler.size === 0);
    await pass(20);
    tally.expectEachOnce();
  });

  test('successors that die while they start, again and again', async () => {
    const inlineAfter = { deaths: Number.POSITIVE_INFINITY, within: 1 };
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024, thread: { inlineAfter } });
    const tally = Tally.of(scheduler, 500, (i) => 1 + (i % 50));
    let kills = 0;
    for (const delay of [0, 1, 2, 5, 10, 20, 40]) {
      if (killShard(scheduler, 0)) kills += 1;
      await pass(delay);
    }
    expect(await scheduler.advanceTo(50)).toBe(500);
    tally.expectEachOnce();
    // where a dead thread is soon followed by another
    expect(kills).toBeGreaterThan(process.versions.deno === undefined ? 2 : 0);
  });

  test('what is due when a thread dies is delivered by the same advanceTo', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024 });
    const tally = Tally.of(scheduler, 500, (i) => 500 - i);
    await scheduler.advanceTo(100);
    for (let shard = 0; shard < shards; shard++) killShard(scheduler, shard);
    expect(await scheduler.advanceTo(500)).toBe(400);
    tally.expectEachOnce();
  });

  test.each([2 ** 31 - 5, 2 ** 31 + 5_000_000, 2 ** 32 - 5, 2 ** 33 + 9])(
    'timers of the past are found by a successor %i ticks later, when their due words cannot tell since when',
    async (later) => {
      await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1024 });
      for (let shard = 0; shard < shards; shard++) killShard(scheduler, shard);
      for (let i = 0; i < 100; i++) scheduler.schedule(i, -i);
      expect(await scheduler.advanceTo(later)).toBe(100);
    },
  );

  test('what is due before any thread is up is delivered by the first advanceTo', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1024 });
    const tally = Tally.of(scheduler, 500, (i) => 500 - i);
    expect(await scheduler.advanceTo(500)).toBe(500);
    tally.expectEachOnce();
  });
});
