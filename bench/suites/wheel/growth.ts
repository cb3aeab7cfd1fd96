import { nanosecondsEach } from '../../engine/stopwatch.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { ID_YARDSTICK } from '../../subjects/id-yardstick.ts';
import { DRIVER, hasNoTimers, TIMER_WHEEL, wheelEntries } from '../../subjects/subjects.ts';
import { HORIZON, World } from './world.ts';

const SIZES = ['10,000', '100,000', '1,000,000', '10,000,000'];

/** W6: W2 with ever more timers alive. */
export const growth: Suite = {
  name: 'wheel growth',
  title: 'Wheel: churn with 10 k to 10 M live timers',
  codes: ['W6'],
  about: 'W2 (5 M pairs) with as many timers live as the column says; the last column is the last by the first.',
  base: ID_YARDSTICK,
  idle: DRIVER,
  subjects: wheelEntries({ [TIMER_WHEEL]: '10 M of its timers do not fit into the default heap' }),
  figures: [
    ...SIZES.map((size) => ({ key: size, title: `W6 ${size}`, unit: 'ns/pair' })),
    { key: 'growth', title: 'W6 last / first', unit: '×' },
  ],
  parts: SIZES,
  derive: (figures) => ({ growth: figures[SIZES[SIZES.length - 1]] / figures[SIZES[0]] }),
  run: measure,
};

function measure(subject: string, scale: Scale, part: string): Measurement {
  const live = Number(part.replaceAll(',', '')) / (scale.quick ? 1000 : 1);
  const pairs = scale.quick ? 5000 : 5_000_000;
  if (!scale.quick) warmUp(subject);
  const world = new World(subject, live);
  world.insertAll(HORIZON);
  const figures = { [part]: nanosecondsEach(pairs, () => world.churn(pairs)) };
  if (hasNoTimers(subject)) return { figures, checksums: {} };
  world.finish();
  const { operations, firings } = world.checksums();
  const checksums: Record<string, number> = { [`operations ${part}`]: operations };
  if (firings !== undefined) checksums[`firings ${part}`] = firings;
  return { figures, checksums };
}

function warmUp(subject: string): void {
  const world = new World(subject, 20_000);
  world.insertAll(HORIZON);
  world.churn(200_000);
}
