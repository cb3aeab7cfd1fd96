import { spreadOf } from '../../engine/statistics.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { costFigures, costFiguresOf } from './cost-figures.ts';
import { CostMeter } from './cost-meter.ts';
import { allFaces, bothFaces, NODE } from './face.ts';
import { gcPausesOf } from './gc-pauses.ts';
import type { LiveLoad } from './live-load.ts';
import { ownInstance } from './own-instance.ts';
import { settle, settledMemory } from './settled-memory.ts';

/** What a suite of this area keeps live meanwhile. */
interface Liveness {
  readonly name: string;
  readonly live: number;
  /** Delays are drawn from so many ms; 1 where all are equal. */
  readonly span: number;
}

const [VARIED, EQUAL] = [600_000, 1];
const FEWEST = 1000;

const livenesses: readonly Liveness[] = [
  { name: 'faces 1m-varied', live: 1_000_000, span: VARIED },
  { name: 'faces 1m-equal', live: 1_000_000, span: EQUAL },
  { name: 'faces 100k-varied', live: 100_000, span: VARIED },
  { name: 'faces 1k-varied', live: FEWEST, span: VARIED },
];

/** Pairs of clear and set, and refreshes, in a sample: enough for several collections during the pairs. */
const pairsOf = (live: number): number => (live === 1_000_000 ? 300_000 : 500_000);
const refreshesOf = (live: number): number => (live === 1_000_000 ? 300_000 : 600_000);
/** Batches of a sample that fire, at least, and timers of these: in the first ones arrays grow, on either face. */
const BATCHES = 20;
const FIRED = 200_000;
const SMALLEST_BATCH = 1000;
const LARGEST_BATCH = 200_000;
/** Fewer than this many are set so many times, for the median of their memory. */
const FEW = 10_000;
const SETTINGS = 9;
/** Live timeouts, and operations of each kind, before anything is measured: until all code is compiled. */
const WARM_LIVE = 20_000;
const WARM_UP = 50_000;

const about = ({ live, span }: Liveness): string =>
  `${live.toLocaleString('en-US')} timeouts live, ${span === EQUAL ? 'all of 60 s' : 'of 60 to 660 s, whole ms'}. Both ` +
  `faces in one process, one after the other, the first by turns. clear + set: ${pairsOf(live).toLocaleString('en-US')} at random ` +
  `places; refresh: ${refreshesOf(live).toLocaleString('en-US')}; 1,000 in a turn of the loop, the turns included. set + fire: ` +
  `batches of ${batchOf(live).toLocaleString('en-US')} of 1 ms, the loop being busy until they are due. Time by the clock; ` +
  'thread: CPU of the loop; process: CPU of all threads. Collections during clear + set.';

const batchOf = (live: number): number => Math.min(LARGEST_BATCH, Math.max(SMALLEST_BATCH, live / 5));

export const operations = ['clear + set', 'refresh', 'set + fire'] as const;

const liveSuite = (liveness: Liveness): Suite => ({
  name: liveness.name,
  title: `Drop-in timers: ${liveness.live.toLocaleString('en-US')} live, ${liveness.span === EQUAL ? 'equal' : 'varied'} durations`,
  codes: ['k', 'faces'],
  about: about(liveness),
  base: NODE,
  subjects: liveness.live === FEWEST ? allFaces : bothFaces,
  figures: [
    ...operations.flatMap((operation) => costFigures(operation)),
    { key: 'heap', title: 'heap per timeout', unit: 'B' },
    { key: 'external', title: 'outside of the heap', unit: 'B' },
    { key: 'collections', title: 'collections', unit: '' },
    { key: 'paused', title: 'pauses together', unit: 'ms' },
    { key: 'pause', title: 'longest pause', unit: 'ms' },
  ],
  run: async (subject, scale) => (await measureAll(liveness, [subject], scale))[0],
  runTogether: (subjects, scale) => measureAll(liveness, subjects, scale),
});

export const liveSuites: readonly Suite[] = livenesses.map(liveSuite);

async function measureAll(liveness: Liveness, faces: readonly string[], scale: Scale): Promise<Measurement[]> {
  const part = scale.quick ? 0.01 : 1;
  const modules = new Map<string, typeof import('./live-load.ts')>();
  for (const face of faces) {
    modules.set(face, await ownInstance('live-load', face));
    await warmUp(modules.get(face)!.LiveLoad, face, part);
  }
  const measurements: Measurement[] = [];
  for (const face of faces) measurements.push(await measure(modules.get(face)!.LiveLoad, face, liveness, part));
  return measurements;
}

async function warmUp(Load: typeof LiveLoad, face: string, part: number): Promise<void> {
  const meter = new CostMeter();
  for (const span of [VARIED, EQUAL]) {
    const load = new Load(face, WARM_LIVE * part, span);
    await load.set();
    await load.clearAndSet(WARM_UP * part);
    await load.refresh(WARM_UP * part);
    await load.fire((WARM_UP * part) / 10, 10, meter);
    await load.prove();
    await load.clear();
  }
}

async function measure(
  Load: typeof LiveLoad,
  face: string,
  { live: full, span }: Liveness,
  part: number,
): Promise<Measurement> {
  const live = Math.max(100, full * part);
  const load = new Load(face, live, span);
  const meters = operations.map(() => new CostMeter());
  const memory = await memoryOf(load, live);
  const [pairs, refreshes] = [pairsOf(full) * part, refreshesOf(full) * part];
  const pauses = await gcPausesOf(async () => {
    meters[0].start();
    await load.clearAndSet(pairs);
    meters[0].stop();
  });
  await settle();
  meters[1].start();
  await load.refresh(refreshes);
  meters[1].stop();
  await settle();
  const batch = Math.floor(batchOf(live));
  const batches = Math.max(BATCHES, Math.ceil((FIRED * part) / batch));
  await load.fire(batch, batches, meters[2]);
  await load.prove();
  await load.clear();
  const counts = [pairs, refreshes, batch * batches];
  const costs = operations.map((operation, at) => costFiguresOf(operation, meters[at].each(counts[at])));
  const figures = {
    ...Object.assign({}, ...costs),
    ...memory,
    collections: pauses.count,
    paused: pauses.total,
    pause: pauses.longest,
  };
  return { figures, checksums: load.checksums() };
}

/**
 * Sets all, and returns the bytes for each. Few are set and cleared several times: what else is collected outweighs
 * them.
 */
async function memoryOf(load: LiveLoad, live: number): Promise<{ heap: number; external: number }> {
  const times = live >= FEW ? 1 : SETTINGS;
  const heaps: number[] = [];
  const externals: number[] = [];
  for (let time = 0; time < times; time++) {
    if (time > 0) await load.clear();
    await settle(); // what finalizers let go goes with the next collection
    const before = await settledMemory();
    await load.set();
    const after = await settledMemory();
    heaps.push((after.heap - before.heap) / live);
    externals.push((after.external - before.external) / live);
  }
  return { heap: spreadOf(heaps).median, external: spreadOf(externals).median };
}
