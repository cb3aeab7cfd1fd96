import { nanosecondsEach } from '../../engine/stopwatch.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { ID_YARDSTICK } from '../../subjects/id-yardstick.ts';
import { DRIVER, hasNoTimers, wheelEntries } from '../../subjects/subjects.ts';
import { HORIZON, World } from './world.ts';

/** W3: a million timers fire, millisecond by millisecond. */
export const fire: Suite = {
  name: 'wheel fire',
  title: 'Wheel: fire 1 M timers',
  codes: ['W3'],
  about: '1 M deadlines uniform in (0, 60 s], fired in steps of 1 ms.',
  base: ID_YARDSTICK,
  idle: DRIVER,
  subjects: wheelEntries(),
  figures: [{ key: 'W3', title: 'W3 fire', unit: 'ns' }],
  run: measure,
};

function measure(subject: string, scale: Scale): Measurement {
  const live = scale.quick ? 4000 : 1_000_000;
  const span = HORIZON + 2 ** 17;
  for (let warmUp = 0; warmUp < (scale.quick ? 0 : 2); warmUp++) {
    const world = new World(subject, 20_000);
    world.insertAll(HORIZON);
    world.step(span);
  }
  const world = new World(subject, live);
  world.insertAll(HORIZON);
  const W3 = nanosecondsEach(live, () => world.step(HORIZON));
  if (hasNoTimers(subject)) return { figures: { W3 }, checksums: {} };
  world.finish();
  return { figures: { W3 }, checksums: world.checksums() };
}
