import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { DRIVER, NODE } from '../rates/rate-subjects.ts';
import { Load, type LoadOptions } from '../scheduler/load.ts';
import { createPictureTimers, pictureSubjects } from './picture-subjects.ts';
import { threadTime } from './thread-time.ts';

const SLICE = 1000;
const SLICES = 100;

/** Timers that are live meanwhile. */
export const liveCounts = [1000, 10_000, 100_000, 1_000_000] as const;

/** Delays are so long that no timer fires meanwhile, ms. */
const [LEAST, MOST] = [600_000, 660_000];

export const liveOperations = {
  varied: { title: 'cancel and set, varied delays', operation: 'random' },
  equal: { title: 'cancel and set, equal delays', operation: 'random', isEqual: true },
  move: { title: 'move, varied delays', operation: 'move' },
} as const satisfies Readonly<Record<string, Pick<LoadOptions, 'operation' | 'isEqual'> & { title: string }>>;

type LiveOperation = keyof typeof liveOperations;

const operations = Object.keys(liveOperations) as LiveOperation[];

/** The key of a figure, and of the part that measures it. */
export const liveFigure = (operation: string, live: number): string => `${operation} ${live}`;

/** What a call costs the more timers are live. */
export const liveCost: Suite = {
  name: 'pictures live',
  title: 'Pictures: the cost of a call against live timers',
  codes: ['pictures'],
  about:
    `A random timer is cancelled and another set, or it is moved, in slices of ${SLICE.toLocaleString('en-US')}; the turns of the loop between ` +
    `them are not timed. Delays are from ${LEAST / 1000} to ${MOST / 1000} s, or all the same. CPU of the thread, medians of ${SLICES} slices.`,
  base: NODE,
  idle: DRIVER,
  subjects: pictureSubjects,
  figures: operations.flatMap((operation) =>
    liveCounts.map((live) => ({
      key: liveFigure(operation, live),
      title: `${liveOperations[operation].title}, ${live.toLocaleString('en-US')} live`,
      unit: 'ns',
      net: true,
    })),
  ),
  parts: operations.flatMap((operation) => liveCounts.map((live) => liveFigure(operation, live))),
  run: measure,
};

async function measure(name: string, { quick }: Scale, part: string): Promise<Measurement> {
  const [operation, count] = part.split(' ');
  const { title: _, ...how } = liveOperations[operation as LiveOperation];
  const live = quick ? liveCounts[0] : Number(count);
  const subject = await createPictureTimers(name, live, () => {
    throw new Error('a timer has fired that was to be live');
  });
  const load = new Load(() => subject, { ...how, live, least: LEAST, span: MOST });
  await load.prepare();
  await sleep(quick ? 20 : 500);
  const slices: number[] = [];
  for (let slice = quick ? SLICES - 5 : -SLICES / 2; slice < SLICES; slice++) {
    const before = threadTime();
    load.perform(SLICE);
    if (slice >= 0) slices.push(((threadTime() - before) * 1e6) / SLICE);
    await nextTurn();
  }
  await load.close();
  slices.sort((a, b) => a - b);
  return { figures: { [part]: slices[slices.length >> 1] }, checksums: { [part]: load.operations } };
}
