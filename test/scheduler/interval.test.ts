import { LATENESS_BOUNDS, type Lateness, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { manual } from './manual.ts';

/** The lateness of an interval is what a list of its latenesses says; how exactly, the histogram's own tests look. */
function expectAsListed(lateness: Lateness, listed: readonly number[]): void {
  const sorted = [...listed].sort((one, other) => one - other);
  expect(lateness.count).toBe(sorted.length);
  const shares = { p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1 };
  for (const [name, share] of Object.entries(shares)) {
    const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    const told = lateness[name as keyof typeof shares];
    expect(told).toBeGreaterThanOrEqual(exact);
    expect(told).toBeLessThanOrEqual(exact * (1 + 1 / 128) + 0.001 * (1 + 1e-9));
  }
  const sum = sorted.reduce((total, value) => total + value, 0);
  expect(Math.abs(lateness.sum - sum)).toBeLessThanOrEqual(sum * 0.004 + 0.0005 * sorted.length);
  expect(lateness.buckets.at(-1)).toEqual({ upTo: LATENESS_BOUNDS.at(-1), count: sorted.length });
}

describe.each([0, 1, 2])('interval(): shards %i', (shards) => {
  test(`what was counted since the last reading, and nothing of before (seed ${SEED})`, async () => {
    const draws = new Draws(SEED);
    await using scheduler = await manual({ shards });
    const listed: number[] = [];
    const note = (deadline: number) => listed.push(scheduler.now() - deadline);
    scheduler.schedule(1, 1, note, 1);
    await scheduler.advanceTo(300, { jump: true }); // 299 ms late: of no interval
    listed.length = 0;
    const interval = scheduler.statsInterval();
    let from = scheduler.now();
    for (let round = 0; round < 20; round++) {
      const ids: number[] = [];
      for (let i = 0; i < 200; i++) {
        const deadline = from + draws.between(0, 40);
        ids.push(scheduler.schedule(i, deadline, note, deadline));
      }
      for (let i = 0; i < 10; i++) scheduler.cancel(ids[i]);
      for (let i = 10; i < 30; i++) scheduler.reschedule(ids[i], from + 1_000_000);
      const to = from + draws.between(1, draws.pick([2, 50, 3000]));
      await scheduler.advanceTo(to, { jump: true });
      const { lateness, stale, ...counts } = interval.next();
      expect(counts).toEqual({
        from,
        to,
        size: scheduler.size,
        scheduled: 200,
        rescheduled: 20,
        cancelled: 10,
        delivered: listed.length,
      });
      expect(stale).toBeGreaterThanOrEqual(0);
      expectAsListed(lateness, listed);
      listed.length = 0;
      from = to;
    }
  });

  test('several at a time know nothing of one another; the last is read after close()', async () => {
    const scheduler = await manual({ shards });
    const [often, seldom] = [scheduler.statsInterval(), scheduler.statsInterval()];
    for (let now = 10; now <= 100; now += 10) {
      scheduler.schedule(now, now - 5);
      await scheduler.advanceTo(now, { jump: true });
      expect(often.next()).toMatchObject({ from: now - 10, to: now, scheduled: 1, delivered: 1 });
    }
    const all = seldom.next();
    expect(all).toMatchObject({ from: 0, to: 100, scheduled: 10, delivered: 10 });
    expectAsListed(all.lateness, new Array(10).fill(5));
    scheduler.schedule(1, 500);
    await scheduler.close();
    const nothing = { from: 100, to: 100, delivered: 0, cancelled: 0, lateness: { count: 0 }, size: 0 };
    expect(seldom.next()).toMatchObject({ ...nothing, scheduled: 1 });
    expect(seldom.next()).toMatchObject({ ...nothing, scheduled: 0 });
    expect(() => scheduler.statsInterval()).toThrow(SchedulerClosedError);
  });
});
