import type { Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

/** What was delivered, and which of it before its deadline. */
function watch(scheduler: Scheduler) {
  const seen = { delivered: 0, early: [] as number[] };
  const record = (deadline: number) => {
    seen.delivered += 1;
    if (!(scheduler.now() >= deadline)) seen.early.push(deadline);
  };
  return { seen, record };
}

describe.each([0, 2])('guarantee 1, never early: shards %i', (shards) => {
  test.each([1, 0.25, 7.3, 1 / 3])(`a manual clock in odd steps, tick ${'%f'}, seed ${SEED}`, async (tick) => {
    await using scheduler = await readyScheduler({ shards, tick, clock: 'manual', capacity: 4096 });
    const draws = new Draws(SEED);
    const { seen, record } = watch(scheduler);
    scheduler.on('fired', ({ deadlines, length, now }) => {
      for (const deadline of deadlines.subarray(0, length)) record(deadline > now ? Number.NaN : deadline);
    });
    for (let i = 0; i < 2000; i++) {
      const deadline = draws.between(0, 500 * tick);
      scheduler.schedule(i, deadline, i % 2 === 0 ? record : undefined, deadline);
    }
    for (let now = 0; now <= 502 * tick; now += draws.between(0, 3 * tick)) await scheduler.advanceTo(now);
    await scheduler.advanceTo(502 * tick);
    expect(seen).toEqual({ delivered: 2000, early: [] });
  });

  test('deadlines beside the end of a tick, by the smallest steps that a double can take', async () => {
    await using scheduler = await readyScheduler({ shards, tick: 0.1, clock: 'manual', capacity: 4096 });
    const { seen, record } = watch(scheduler);
    const deadlines: number[] = [];
    for (let tick = 1; tick <= 300; tick++) {
      const end = tick * 0.1;
      deadlines.push(end - end * Number.EPSILON, end, end + end * Number.EPSILON);
    }
    for (const deadline of deadlines) scheduler.schedule(deadline, deadline, record, deadline);
    for (const now of deadlines) await scheduler.advanceTo(now);
    await scheduler.advanceTo(31);
    expect(seen).toEqual({ delivered: 900, early: [] });
  });

  test('the real clock: now() and the monotonic clock have both come as far as was asked', async () => {
    await using scheduler = await readyScheduler({ shards });
    const draws = new Draws(SEED);
    const early: unknown[] = [];
    let delivered = 0;
    for (let i = 0; i < 1500; i++) {
      const delay = draws.between(0, 120);
      const asked = process.hrtime.bigint();
      const floor = scheduler.now() + delay;
      const check = (kind: string) => {
        delivered += 1;
        const elapsed = Number(process.hrtime.bigint() - asked) / 1e6;
        // now() may lag behind the monotonic clock by a shard's turn; what is asked as a delay may not.
        if (scheduler.now() < floor || (kind !== 'schedule' && elapsed < delay)) early.push({ kind, delay, elapsed });
      };
      if (i % 3 === 0) scheduler.schedule(i, floor, check, 'schedule');
      if (i % 3 === 1) scheduler.scheduleAfter(i, delay, check, 'scheduleAfter');
      if (i % 3 === 2) {
        const id = scheduler.scheduleAfter(i, draws.between(0, 200), check, 'rescheduleAfter');
        scheduler.rescheduleAfter(id, delay);
      }
    }
    await until(() => scheduler.size === 0);
    expect({ delivered, early }).toEqual({ delivered: 1500, early: [] });
  });
});
