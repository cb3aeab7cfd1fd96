import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { manual } from './manual.ts';

describe.each([0, 1, 2])('nextExpiration(): shards %i', (shards) => {
  test.each([1, 0.25, 10])(`is the least time at which a timer fires, tick %f, seed ${SEED}`, async (tick) => {
    await using scheduler = await manual({ shards, tick });
    expect(await scheduler.nextExpiration()).toBeUndefined();
    const draws = new Draws(SEED);
    const ids: number[] = [];
    for (let i = 0; i < 300; i++) ids.push(scheduler.schedule(i, draws.between(-5, 70_000) * tick));
    for (let i = 0; i < 100; i++) scheduler.cancel(ids[draws.below(300)]);
    for (let i = 0; i < 100; i++) scheduler.reschedule(ids[draws.below(300)], draws.between(-5, 70_000) * tick);
    let live = scheduler.size;
    let asked = 0;
    for (let next = await scheduler.nextExpiration(); next !== undefined; next = await scheduler.nextExpiration()) {
      expect(next).toBeGreaterThan(scheduler.now());
      expect(await scheduler.advanceTo(next * (1 - Number.EPSILON))).toBe(0);
      const fired = await scheduler.advanceTo(next);
      expect(fired).toBeGreaterThan(0);
      live -= fired;
      asked += 1;
    }
    expect({ live, size: scheduler.size }).toEqual({ live: 0, size: 0 });
    expect(asked).toBeGreaterThan(100);
  });
});
