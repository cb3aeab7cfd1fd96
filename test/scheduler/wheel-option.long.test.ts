import type { Scheduler, SchedulerOptions } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { presets } from '../../src/wheel/presets.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { Tally } from '../fixtures/tally.ts';
import { manual } from './manual.ts';

const SPAN = 60_000;
const NEAR = 500;

/**
 * Four of five deadlines lie before `near`; `most`: ms by which a timer may be late, as its level is coarse; then there
 * is no order.
 */
type Terms = Record<'count' | 'near' | 'tick' | 'most', number>;

/**
 * Timers over a minute of manual clock, each delivery checked as it comes: not early, not late, and in order on its
 * shard.
 */
class Minute {
  readonly tally: Tally;
  readonly ids: number[] = [];
  readonly faults = { early: 0, late: 0, outOfOrder: 0 };
  now = 0;
  private before = 0;
  private readonly deadlines: Float64Array;
  private readonly lastOfShard: Int32Array;
  private readonly scheduler: Scheduler;
  private readonly draws: Draws;
  private readonly terms: Terms;

  constructor(scheduler: Scheduler, draws: Draws, terms: Terms) {
    this.scheduler = scheduler;
    this.draws = draws;
    this.terms = terms;
    this.tally = new Tally(terms.count);
    this.deadlines = new Float64Array(terms.count);
    this.lastOfShard = new Int32Array(Math.max(1, scheduler.shards)).fill(-1);
    for (let i = 0; i < terms.count; i++) {
      this.deadlines[i] = draws.between(0, i % 5 === 0 ? SPAN : terms.near);
      this.ids.push(scheduler.schedule(i, this.deadlines[i], this.deliver, i));
    }
  }

  async step(): Promise<void> {
    this.before = this.now;
    const most = this.now < NEAR + 100 && this.terms.near === NEAR ? 2 : 1000;
    this.now = Math.min(SPAN, this.now + this.draws.between(0, most));
    await this.scheduler.advanceTo(this.now);
  }

  private readonly deliver = (i: number): void => {
    const { deadlines, faults, lastOfShard } = this;
    const { most, tick } = this.terms;
    this.tally.add(i);
    if (deadlines[i] > this.now) faults.early += 1;
    // It was not due yet when the clock was last advanced, unless its level was too coarse.
    if ((most > 0 ? deadlines[i] : this.dueOf(i) * tick) <= this.before - most) faults.late += 1;
    const shard = this.scheduler.shardOf(i);
    const last = lastOfShard[shard];
    lastOfShard[shard] = i;
    if (last < 0 || most > 0) return;
    const byTick = this.dueOf(i) - this.dueOf(last);
    if (byTick < 0 || (byTick === 0 && i < last)) faults.outOfOrder += 1;
  };

  private dueOf(i: number): number {
    return Math.max(1, Math.ceil(this.deadlines[i] / this.terms.tick));
  }
}

const millions = [0, 2].flatMap((shards) => [0, 300_000].map((cancels) => ({ shards, cancels })));

test.each(millions)(
  `a million timers, some cancelled: exactly once, none early, in order, %o, seed ${SEED}`,
  async (of) => {
    const { shards, cancels } = of;
    await using scheduler = await manual({ shards, capacity: 2 ** 20 });
    const draws = new Draws(SEED + cancels);
    const count = 1_000_000;
    const minute = new Minute(scheduler, draws, { count, near: SPAN, tick: 1, most: 0 });
    expect(scheduler.size).toBe(count);
    let cancelled = 0;
    while (minute.now < SPAN) {
      for (let i = 0; i < 10_000 && cancelled < cancels; i++) {
        const victim = draws.below(count);
        if (!scheduler.cancel(minute.ids[victim])) continue;
        minute.tally.add(victim); // its one end: a delivery as well would be counted twice
        cancelled += 1;
      }
      await minute.step();
    }
    minute.tally.expectEachOnce();
    expect(minute.faults).toEqual({ early: 0, late: 0, outOfOrder: 0 });
    expect(await scheduler.stats()).toMatchObject({ cancelled: cancels, delivered: count - cancels, size: 0 });
  },
);

type Wheel = NonNullable<SchedulerOptions['wheel']>;

const base = { engine: 'cascading', precision: 1 } as const;
const cascading = (levelBits: number[], overflow: 'list' | 'throw' = 'list') => ({ ...base, levelBits, overflow });

const twoLevels = [1, 16].map((precision) => ({ precision, spokes: 64 }));

const wheels: Record<string, Wheel> = {
  ...Object.fromEntries(Object.keys(presets).map((name) => [name, name as Wheel])),
  'one level of two slots': cascading([1]),
  'one level, nothing beyond': cascading([8], 'throw'),
  'many small levels': cascading([1, 2, 3, 1, 2]),
  'small and bounded': cascading([2, 2], 'throw'),
  'one large level': cascading([16]),
  'all bits that there are': cascading([11, 10, 10, 10, 10, 2]),
  'a precision of its own, which the tick stands in for': { engine: 'cascading', precision: 250, levelBits: [8, 8] },
  'pinned, of two levels': { engine: 'pinned', levels: twoLevels },
};

/** Ticks of which one timer may be late: the coarsest level's, where timers do not move. */
const latenessOf = (wheel: Wheel): number => {
  const config = typeof wheel === 'string' ? presets[wheel] : wheel;
  if (config.engine === 'cascading') return 0;
  return Math.max(...config.levels.map(({ precision }) => precision)) / config.levels[0].precision;
};

describe.each([0, 1])('the wheel option: shards %i', (shards) => {
  test.each(Object.keys(wheels))(`%s: exactly once, never early, in order, seed ${SEED}`, async (name) => {
    const most = latenessOf(wheels[name]) / 2;
    await using scheduler = await manual({ shards, wheel: wheels[name], tick: 0.5 });
    const minute = new Minute(scheduler, new Draws(SEED), { count: 2000, near: NEAR, tick: 0.5, most });
    while (minute.now < SPAN) await minute.step();
    await scheduler.advanceTo(SPAN + 2 * most);
    minute.tally.expectEachOnce();
    expect(minute.faults).toEqual({ early: 0, late: 0, outOfOrder: 0 });
  });
});
