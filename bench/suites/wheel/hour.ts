import { performance } from 'node:perf_hooks';
import { spreadOf } from '../../engine/statistics.ts';
import { nanosecondsEach } from '../../engine/stopwatch.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { ID_YARDSTICK } from '../../subjects/id-yardstick.ts';
import { DRIVER, hasNoTimers, wheelEntries } from '../../subjects/subjects.ts';
import { World } from './world.ts';

const TIMERS = 1000;
const HOUR = 3_600_000;
const JUMPS = 15;
/** Jumps before those that are timed: each is so short that what is compiled meanwhile would show. */
const WARM_UP = 60;

/** W4: what empty time costs, stepped through and jumped over. */
export const hour: Suite = {
  name: 'wheel hour',
  title: 'Wheel: an hour with 1,000 timers',
  codes: ['W4', 'step', 'jump'],
  about: '1,000 deadlines uniform over an hour: advanced by steps of 1 ms; and at once (median of 15 jumps, after 60).',
  base: ID_YARDSTICK,
  idle: DRIVER,
  subjects: wheelEntries({ twolevel: 'covers 17 minutes' }),
  figures: [
    { key: 'W4 step', title: 'W4 step', unit: 'ns/step' },
    { key: 'W4 jump', title: 'W4 jump of an hour', unit: 'µs' },
  ],
  run: measure,
};

function measure(subject: string, scale: Scale): Measurement {
  const span = scale.quick ? HOUR / 60 : HOUR;
  // A step takes a nanosecond or two, so that what is compiled meanwhile, or compiled again, would show.
  for (let warmUp = 0; warmUp < (scale.quick ? 1 : 4); warmUp++) {
    const warm = new World(subject, TIMERS);
    warm.insertAll(span);
    for (let part = 0; part < 4; part++) warm.step(span / 4);
  }
  const world = new World(subject, TIMERS);
  world.insertAll(span);
  const step = nanosecondsEach(span, () => world.step(span));
  if (!hasNoTimers(subject)) world.finish();
  // A jump's lateness is the jump's own length: only that everything fires, and nothing twice, is checked here.
  const jumper = new World(subject, TIMERS, 2 * HOUR);
  const times: number[] = [];
  for (let jump = 1 - WARM_UP; jump <= JUMPS; jump++) {
    jumper.insertAll(span);
    const start = performance.now();
    jumper.advanceTo((WARM_UP + jump) * span * 2);
    if (jump > 0) times.push((performance.now() - start) * 1000);
  }
  const figures = { 'W4 step': step, 'W4 jump': spreadOf(times).median };
  if (hasNoTimers(subject)) return { figures, checksums: {} };
  jumper.tally.requireAllAccountedFor();
  return { figures, checksums: { ...world.checksums(), jumped: jumper.tally.operations } };
}
