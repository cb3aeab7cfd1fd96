import type { SchedulerOptions, WheelConfig } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { presets } from '../../src/wheel/presets.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { Tally } from '../fixtures/tally.ts';
import { manual } from './manual.ts';

type Wheel = NonNullable<SchedulerOptions['wheel']>;

const cascading = (levelBits: number[], overflow: 'list' | 'throw' = 'list'): WheelConfig => ({
  engine: 'cascading',
  precision: 1,
  levelBits,
  overflow,
});

const wheels: Record<string, Wheel> = {
  ...Object.fromEntries(Object.keys(presets).map((name) => [name, name as Wheel])),
  'one level of two slots': cascading([1]),
  'one level, nothing beyond': cascading([8], 'throw'),
  'many small levels': cascading([1, 2, 3, 1, 2]),
  'small and bounded': cascading([2, 2], 'throw'),
  'one large level': cascading([16]),
  'all bits that there are': cascading([11, 10, 10, 10, 10, 2]),
  'a precision of its own, which the tick stands in for': { engine: 'cascading', precision: 250, levelBits: [8, 8] },
  'pinned, of two levels': {
    engine: 'pinned',
    levels: [
      { precision: 1, spokes: 64 },
      { precision: 16, spokes: 64 },
    ],
  },
};

/** Ticks of which one timer may be late: the coarsest level's, where timers do not move. */
const latenessOf = (wheel: Wheel): number => {
  const config = typeof wheel === 'string' ? presets[wheel] : wheel;
  if (config.engine === 'cascading') return 1;
  return Math.max(...config.levels.map(({ precision }) => precision)) / config.levels[0].precision;
};

describe.each([0, 1])('the wheel option: shards %i', (shards) => {
  test.each(Object.keys(wheels))(`%s: exactly once, never early, in order, seed ${SEED}`, async (name) => {
    const wheel = wheels[name];
    const isPinned = (typeof wheel === 'string' ? presets[wheel] : wheel).engine === 'pinned';
    const most = latenessOf(wheel);
    await using scheduler = await manual({ shards, wheel, tick: 0.5 });
    const draws = new Draws(SEED);
    const tally = new Tally(2000);
    const deadlines: number[] = [];
    const order: number[] = [];
    const faults: unknown[] = [];
    let now = 0;
    let last = 0;
    const deliver = (i: number) => {
      tally.add(i);
      order.push(i);
      // It was not due yet when the clock was last advanced, unless its level was too coarse.
      if (deadlines[i] > now || deadlines[i] <= last - most * 0.5) faults.push({ now, last, deadline: deadlines[i] });
    };
    for (let i = 0; i < 2000; i++) {
      deadlines.push(draws.between(0, i % 5 === 0 ? 60_000 : 500));
      scheduler.schedule(i, deadlines[i], deliver, i);
    }
    while (now < 60_000) {
      last = now;
      now += draws.between(0, now < 600 ? 2 : 2000);
      await scheduler.advanceTo(now);
    }
    await scheduler.advanceTo(now + most);
    tally.expectEachOnce();
    expect(faults).toEqual([]);
    const due = (i: number) => Math.max(1, Math.ceil(deadlines[i] / 0.5));
    if (!isPinned) expect(order).toEqual([...order].sort((one, other) => due(one) - due(other) || one - other));
  });
});
