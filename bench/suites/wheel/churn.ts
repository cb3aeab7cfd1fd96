import { readMemory } from '../../engine/memory.ts';
import { nanosecondsEach } from '../../engine/stopwatch.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { ID_YARDSTICK } from '../../subjects/id-yardstick.ts';
import { DRIVER, hasNoTimers, reserveIds, wheelEntries } from '../../subjects/subjects.ts';
import { HORIZON, World } from './world.ts';

/** W1, W2 and W5: insert a million, churn, churn again when what was dropped lazily is being paid for. */
export const churn: Suite = {
  name: 'wheel churn',
  title: 'Wheel: insert 1 M timers, then cancel and schedule anew',
  codes: ['W1', 'W2', 'W5', 'insert', 'memory'],
  about:
    '1 M deadlines uniform in (0, 60 s]; then 5 M times a random timer is cancelled and scheduled anew, 1 ms passing ' +
    'with every 400 pairs; the same again after 62.5 s of it. Bytes after garbage collection, less those before.',
  base: ID_YARDSTICK,
  idle: DRIVER,
  subjects: wheelEntries(),
  figures: [
    { key: 'W1', title: 'W1 insert', unit: 'ns' },
    { key: 'W2', title: 'W2 churn', unit: 'ns/pair' },
    { key: 'W2 late', title: 'W2 after 62.5 s', unit: 'ns/pair' },
    { key: 'W5 heap', title: 'W5 heap + external', unit: 'B/timer' },
    { key: 'W5 rss', title: 'W5 resident', unit: 'B/timer' },
    { key: 'W5 heap late', title: 'W5 heap + external after 62.5 s', unit: 'B/timer' },
    { key: 'W5 rss late', title: 'W5 resident after 62.5 s', unit: 'B/timer' },
  ],
  run: measure,
};

function measure(subject: string, scale: Scale): Measurement {
  const live = scale.quick ? 4000 : 1_000_000;
  const pairs = live * 5;
  if (!scale.quick) warmUp(subject);
  reserveIds(live);
  const before = readMemory();
  const world = new World(subject, live);
  const W1 = nanosecondsEach(live, () => world.insertAll(HORIZON));
  const full = readMemory();
  const W2 = nanosecondsEach(pairs, () => world.churn(pairs));
  world.churn(scale.quick ? pairs : pairs * 4);
  const late = readMemory();
  const W2late = nanosecondsEach(pairs, () => world.churn(pairs));
  if (!hasNoTimers(subject)) world.finish();
  const own = world.tally.deadlines.byteLength / live;
  const figures = {
    W1,
    W2,
    'W2 late': W2late,
    'W5 heap': (full.heap - before.heap) / live - own,
    'W5 rss': (full.resident - before.resident) / live - own,
    'W5 heap late': (late.heap - before.heap) / live - own,
    'W5 rss late': (late.resident - before.resident) / live - own,
  };
  return { figures, checksums: hasNoTimers(subject) ? {} : world.checksums() };
}

/** Runs every path once, on a separate wheel, for the compiler. */
function warmUp(subject: string): void {
  const world = new World(subject, 20_000);
  world.insertAll(HORIZON);
  world.churn(200_000);
  if (!hasNoTimers(subject)) world.finish();
}
