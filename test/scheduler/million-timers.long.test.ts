import type { Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { Tally } from '../fixtures/tally.ts';
import { manual } from './manual.ts';

const COUNT = 1_000_000;
const SPAN = 60_000;

/** Timers over a minute of manual clock, each delivery checked as it comes: not early, and in order on its shard. */
class Minute {
  readonly tally = new Tally(COUNT);
  readonly ids = new Float64Array(COUNT);
  readonly deadlines = new Float64Array(COUNT);
  early = 0;
  outOfOrder = 0;
  now = 0;
  private readonly lastOfShard: Int32Array;
  private readonly scheduler: Scheduler;
  private readonly draws: Draws;

  constructor(scheduler: Scheduler, draws: Draws) {
    this.scheduler = scheduler;
    this.draws = draws;
    this.lastOfShard = new Int32Array(Math.max(1, scheduler.shards)).fill(-1);
    for (let i = 0; i < COUNT; i++) {
      this.deadlines[i] = draws.between(0, SPAN);
      this.ids[i] = scheduler.schedule(i, this.deadlines[i], this.deliver, i);
    }
  }

  async step(): Promise<void> {
    this.now = Math.min(SPAN, this.now + this.draws.between(0, 1000));
    await this.scheduler.advanceTo(this.now);
  }

  private readonly deliver = (i: number): void => {
    this.tally.add(i);
    if (this.deadlines[i] > this.now) this.early += 1;
    const shard = this.scheduler.shardOf(i);
    const last = this.lastOfShard[shard];
    this.lastOfShard[shard] = i;
    if (last < 0) return;
    const byTick = Math.ceil(this.deadlines[i]) - Math.ceil(this.deadlines[last]);
    if (byTick < 0 || (byTick === 0 && i < last)) this.outOfOrder += 1;
  };
}

const cases = [0, 2].flatMap((shards) => [0, 300_000].map((cancels) => ({ shards, cancels })));

test.each(cases)(
  `a million timers over 60 s of manual clock fire once, none early, in order, but for the cancelled: %o, seed ${SEED}`,
  async ({ shards, cancels }) => {
    await using scheduler = await manual({ shards, capacity: 2 ** 20 });
    const draws = new Draws(SEED + cancels);
    const minute = new Minute(scheduler, draws);
    expect(scheduler.size).toBe(COUNT);
    let cancelled = 0;
    while (minute.now < SPAN) {
      for (let i = 0; i < 10_000 && cancelled < cancels; i++) {
        const victim = draws.below(COUNT);
        if (!scheduler.cancel(minute.ids[victim])) continue;
        minute.tally.add(victim); // its one end: a delivery as well would be counted twice
        cancelled += 1;
      }
      await minute.step();
    }
    minute.tally.expectEachOnce();
    expect({ cancelled, early: minute.early, outOfOrder: minute.outOfOrder }).toEqual({
      cancelled: cancels,
      early: 0,
      outOfOrder: 0,
    });
    expect(await scheduler.stats()).toMatchObject({ cancelled: cancels, delivered: COUNT - cancels, size: 0 });
  },
);
