import { describe, expect, test } from 'vitest';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

/** Ticks at which a wheel of 256 slots to a level turns over, and their neighbours. */
const edges = [1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 131_072, 16_777_215, 16_777_216, 16_777_217];

describe.each([0, 2])('guarantee 2, bounded lateness: shards %i', (shards) => {
  test.each([1, 0.25, 10])('a timer fires in the turn in which its tick ends, not later: tick %f', async (tick) => {
    await using scheduler = await readyScheduler({ shards, tick, clock: 'manual', capacity: 1024 });
    const fired: number[] = [];
    const deadlines = edges.flatMap((edge) => [(edge - 0.75) * tick, (edge - 0.25) * tick, edge * tick]);
    for (const deadline of deadlines) scheduler.schedule(deadline, deadline, (at) => fired.push(at), deadline);
    let steps = 0;
    for (const edge of edges) {
      await scheduler.advanceTo(edge * tick * (1 - Number.EPSILON));
      expect(fired.length).toBe(3 * steps);
      await scheduler.advanceTo(edge * tick);
      steps += 1;
      expect(fired.length).toBe(3 * steps);
    }
    expect({ steps, left: scheduler.size }).toEqual({ steps: 14, left: 0 });
  });

  test('on the walk over every tick of three turns of the first level no timer is a tick late', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 4096 });
    const late: number[] = [];
    for (let i = 1; i <= 3 * 256; i++) {
      scheduler.schedule(i, i - 0.5, (deadline) => late.push(scheduler.now() - deadline), i - 0.5);
      scheduler.schedule(-i, i, (deadline) => late.push(scheduler.now() - deadline), i);
    }
    for (let now = 1; now <= 3 * 256; now++) await scheduler.advanceTo(now);
    expect(late.length).toBe(6 * 256);
    expect(Math.max(...late)).toBe(0.5);
    expect(Math.min(...late)).toBe(0);
  });
});
