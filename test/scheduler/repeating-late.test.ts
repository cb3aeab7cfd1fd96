import { createScheduler, type MissedCalls, type TimerId } from 'shardwheel';
import { expect, test } from 'vitest';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { killShard } from '../fixtures/shard-threads.ts';

test.each<[MissedCalls, (times: readonly number[], next: readonly number[]) => boolean]>([
  ['skip', ([first, second]) => second >= 10 * Math.ceil((first + 85) / 10)],
  ['burst', (times) => times[8] - times[1] > 6], // one per tick
  ['delay', ([first], [, third]) => third >= first + 85 + 10], // the second call began after the block
])('on the real clock, a callback that blocks: %s', async (missedCalls, isRight) => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const times: number[] = [];
  const next: number[] = [];
  const start = scheduler.now();
  const beat = (_: unknown, id: TimerId) => {
    times.push(scheduler.now() - start);
    next.push((scheduler.deadlineOf(id) as number) - start);
    if (times.length === 1) blockLoop(85);
  };
  scheduler.scheduleEvery('a', 10, beat, undefined, { missedCalls });
  await until(() => times.length >= 10);
  expect([times, next, isRight(times, next)]).toEqual([times, next, true]);
  for (const [at, due] of next.slice(0, -1).entries()) expect(times[at + 1]).toBeGreaterThanOrEqual(due);
  for (const [n, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(10 * (n + 1)); // none is early
  expect((await scheduler.stats()).rescheduled).toBe(0); // the program has moved none
});

test('a callback that blocks, and moves its timer: the move is what counts', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 64 });
  const times: number[] = [];
  const next: number[] = [];
  scheduler.scheduleEvery('a', 10, (_, id) => {
    if (times.length === 0) {
      scheduler.rescheduleAfter(id, 5);
      blockLoop(25);
      scheduler.rescheduleAfter(id, 50);
    }
    times.push(scheduler.now());
    next.push(scheduler.deadlineOf(id) as number);
  });
  await until(() => times.length >= 3);
  expect(times[1] - times[0]).toBeGreaterThanOrEqual(49);
  expect(next[1] - times[1]).toBeLessThanOrEqual(15); // half a period away, or the next
});

test.each([1, 2])('each call of the grid at most once, and none early, while shards die: shards %i', async (shards) => {
  await using scheduler = createScheduler({
    shards,
    capacity: 4096,
    thread: { inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 } },
  });
  scheduler.on('error', () => undefined);
  await scheduler.ready;
  const last = new Map<number, number>();
  const wrong: string[] = [];
  const start = scheduler.now();
  let calls = 0;
  for (let timer = 0; timer < 300; timer++) {
    const period = 5 + (timer % 13);
    scheduler.scheduleEvery(
      timer,
      period,
      (name: number, id) => {
        const now = scheduler.now();
        const due = (scheduler.deadlineOf(id) as number) - period;
        const before = last.get(name) ?? Number.NEGATIVE_INFINITY;
        if (due <= before) wrong.push(`${name}: ${due} after ${before}`);
        if (now < Math.min(due, before + period)) wrong.push(`${name} early at ${now}`);
        if (now < start + period) wrong.push(`${name} before its first call`);
        last.set(name, due);
        calls += 1;
      },
      timer,
    );
  }
  for (let round = 0; round < 6; round++) {
    killShard(scheduler, round % shards);
    const before = calls;
    await until(() => calls > before + 1000);
  }
  expect([wrong, scheduler.size, last.size]).toEqual([[], 300, 300]);
  const { scheduled, delivered, cancelled } = await scheduler.stats();
  expect({ scheduled, delivered, cancelled }).toEqual({ scheduled: 300, delivered: calls, cancelled: 0 });
});
