import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { costFigures, costFiguresOf } from './cost-figures.ts';
import { CostMeter } from './cost-meter.ts';
import { bothFaces, NODE } from './face.ts';
import { ownInstance } from './own-instance.ts';
import { settle } from './settled-memory.ts';

export const WAITS = 'faces waits';

/** Timeouts that live meanwhile, and the ms that their delays are drawn from. */
const LIVE = 1000;
const SPAN = 600_000;

/** How many at once, and how many times. With one signal: Node looks at all of its listeners to add one. */
const SLEEPS = [20_000, 5] as const;
const WITH_SIGNAL = [2000, 10] as const;
const INTERVALS = 1000;
/** ms */
const INTERVAL_SPAN = 1000;

export const waits = ['sleep', 'sleep with signal'] as const;
export const INTERVAL = 'interval';

/** (k) Promises' waits, and intervals, of the drop-in timers. */
export const waitSuite: Suite = {
  name: WAITS,
  title: 'Drop-in timers: waits and intervals',
  codes: ['k', 'faces'],
  about:
    `Both faces in one process, one after the other, the first by turns, with ${LIVE.toLocaleString('en-US')} timeouts live. sleep: ` +
    `${SLEEPS[0].toLocaleString('en-US')} awaited at once, 1 ms each, the loop being busy until they are due. With a signal: ` +
    `${WITH_SIGNAL[0].toLocaleString('en-US')} on the same one. interval: ${INTERVALS.toLocaleString('en-US')} of 5 ms for ${INTERVAL_SPAN / 1000} s, for each call; ` +
    'the loop idles between, so its time is CPU alone.',
  base: NODE,
  subjects: bothFaces,
  figures: [
    ...waits.flatMap((wait) => costFigures(wait)),
    ...costFigures(INTERVAL).slice(1),
    { key: 'calls', title: 'calls', unit: '', moreIsBetter: true },
  ],
  run: async (subject, scale) => (await measureAll([subject], scale))[0],
  runTogether: measureAll,
};

async function measureAll(faces: readonly string[], { quick }: Scale): Promise<Measurement[]> {
  const part = quick ? 0.05 : 1;
  const measurements: Measurement[] = [];
  for (const face of faces) await measure(face, part / 4); // until its code is compiled
  for (const face of faces) measurements.push(await measure(face, part));
  return measurements;
}

async function measure(face: string, part: number): Promise<Measurement> {
  const { LiveLoad } = await ownInstance<typeof import('./live-load.ts')>('live-load', face);
  const { WaitLoad } = await ownInstance<typeof import('./wait-load.ts')>('wait-load', face);
  const live = new LiveLoad(face, LIVE, SPAN);
  await live.set();
  const load = new WaitLoad(face);
  const [sleeps, withSignal, interval] = [...waits, INTERVAL].map(() => new CostMeter());
  const scaled = ([count, times]: readonly [number, number]) => [count * part, times] as const;
  await settle();
  await load.sleep(...scaled(SLEEPS), sleeps);
  await settle();
  await load.sleepWithSignal(...scaled(WITH_SIGNAL), withSignal);
  await settle();
  const calls = await load.interval(INTERVALS * part, INTERVAL_SPAN * Math.max(0.2, part), interval);
  await live.clear();
  const count = ([each, times]: readonly [number, number]) => each * part * times;
  const { [INTERVAL]: _idleToo, ...intervalCosts } = costFiguresOf(INTERVAL, interval.each(calls));
  const figures = {
    ...costFiguresOf('sleep', sleeps.each(count(SLEEPS))),
    ...costFiguresOf('sleep with signal', withSignal.each(count(WITH_SIGNAL))),
    ...intervalCosts,
    calls,
  };
  return { figures, checksums: { ...live.checksums(), ...load.checksums() } };
}
