import { createScheduler, type Scheduler, type WheelConfig } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { type PresetName, presets } from '../../src/wheel/presets.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const { min } = Math;

const RUNS = 8;
const TIMERS = 60;

/** A pinned wheel whose range is soon over. */
const short: WheelConfig = {
  engine: 'pinned',
  levels: [
    { precision: 1, spokes: 4 },
    { precision: 4, spokes: 8 },
    { precision: 32, spokes: 8 },
  ],
};

const wheels: [string, PresetName | WheelConfig][] = [
  ...(Object.keys(presets) as PresetName[]).map((name): [string, PresetName] => [name, name]),
  ['a short pinned wheel', short],
];

/** Starts, moves and ends timers of all kinds at random. */
function drawTimers(scheduler: Scheduler, draws: Draws, far: number): void {
  const timers = createTimers(scheduler);
  const lazy = scheduler.label('lazy', { slack: 30 });
  const wait = () => draws.below(draws.pick([5, 300, min(far, 70_000), far]));
  for (let count = draws.below(TIMERS); count > 0; count--) {
    const hint = draws.below(1000);
    const kinds = [
      () => void scheduler.schedule(hint, scheduler.now() + wait() - 3),
      () => void lazy.scheduleAfter(hint, wait() / 3),
      () => void timers.setTimeout(() => undefined, wait()),
      () => timers.setTimeout(() => undefined, wait()).refresh(),
      () => timers.clearTimeout(timers.setTimeout(() => undefined, wait())),
      () => void scheduler.cancel(scheduler.scheduleAfter(hint, wait())),
      () => void scheduler.rescheduleAfter(scheduler.scheduleAfter(hint, wait()), wait()),
    ];
    draws.pick(kinds)();
  }
}

describe.each([0, 1])('nextExpiration tells when a timer fires: shards %i', (shards) => {
  test.each(wheels)(`%s, seed ${SEED}`, async (_name, wheel) => {
    const draws = new Draws(SEED);
    let [asked, later] = [0, 0];
    for (let run = 0; run < (shards === 0 ? RUNS : 3); run++) {
      const slack = draws.pick([0, 0, 5]);
      const tick = draws.pick([1, 1, 0.25, 3]);
      await using scheduler = createScheduler({ shards, wheel, slack, tick, clock: 'manual', capacity: 4096 });
      await scheduler.ready;
      if (draws.below(2) === 0) await scheduler.advanceTo(draws.between(0, 1e6), { jump: true });
      for (let step = 0; step < 30; step++) {
        if (draws.below(3) === 0) drawTimers(scheduler, draws, 2 ** draws.between(9, wheel === short ? 15 : 34));
        if (draws.below(4) === 0) await scheduler.advanceTo(scheduler.now() + draws.between(0, 50));
        const next = await scheduler.nextExpiration();
        if (next === undefined) {
          expect(scheduler.size).toBe(0);
          continue;
        }
        asked += 1;
        if (next > scheduler.now() + 2 * tick) later += 1;
        expect(await scheduler.nextExpiration()).toBe(next);
        const jump = draws.below(2) === 0;
        const before = next - tick / 2;
        if (draws.below(2) === 0 && before > scheduler.now())
          expect(await scheduler.advanceTo(before, { jump })).toBe(0);
        expect(await scheduler.nextExpiration()).toBe(next);
        expect(await scheduler.advanceTo(next, { jump })).toBeGreaterThan(0);
      }
    }
    expect(asked).toBeGreaterThan(40);
    expect(later).toBeGreaterThan(20);
  });

  test('of a timer that a coarse level rounds, of one beyond the range, and of many that a ring does not hold', async () => {
    await using scheduler = createScheduler({ shards, wheel: 'pinned3', clock: 'manual' });
    await scheduler.ready;
    const timers = createTimers(scheduler);
    const alone = scheduler.schedule(1, 2_000_000);
    expect(await scheduler.nextExpiration()).toBe(2_000_000); // a list of few rounds nothing
    for (let count = 0; count < 6000; count++) scheduler.schedule(count, 2 ** 42);
    expect(await scheduler.nextExpiration()).toBe(2_031_616);
    expect(scheduler.has(alone)).toBe(true);
    expect(await scheduler.advanceTo(2_031_615)).toBe(0);
    expect(await scheduler.advanceTo(2_031_616)).toBe(1);
    timers.setTimeout(() => undefined, 2 ** 40);
    const next = (await scheduler.nextExpiration()) as number;
    expect(next).toBeGreaterThanOrEqual(2_031_616 + 2 ** 40);
    for (let count = 0; count < 100_000; count++) scheduler.schedule(count, 2 ** 25 - count);
    const first = (await scheduler.nextExpiration()) as number;
    expect(first).toBeGreaterThanOrEqual(2 ** 25 - 99_999);
    expect(await scheduler.advanceTo(first - 1)).toBe(0);
    expect(await scheduler.advanceTo(2 ** 25 + 2 ** 16)).toBe(100_000);
    expect(await scheduler.nextExpiration()).toBe(next);
    expect(await scheduler.advanceTo(next)).toBe(1);
  });
});
