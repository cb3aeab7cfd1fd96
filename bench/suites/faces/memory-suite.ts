import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { bothFaces, NODE } from './face.ts';
import { LiveLoad } from './live-load.ts';
import { settle, settledMemory } from './settled-memory.ts';

export const MEMORY = 'faces memory';

const LIVE = 500_000;
const SPAN = 600_000;

/** (k) What a timeout of the drop-in timers takes, everything included. */
export const memorySuite: Suite = {
  name: MEMORY,
  title: 'Drop-in timers: memory of a timeout',
  codes: ['k', 'faces'],
  about:
    `${LIVE.toLocaleString('en-US')} live, durations varied, each face in a process of its own. The wheel's arrays are ` +
    'outside of the heap, and seen in what is resident. What the face makes once for its first timer counts, too.',
  base: NODE,
  subjects: bothFaces,
  figures: [
    { key: 'resident', title: 'resident memory per timeout', unit: 'B' },
    { key: 'heap', title: 'heap per timeout', unit: 'B' },
    { key: 'external', title: 'outside of the heap', unit: 'B' },
  ],
  run: measure,
};

async function measure(face: string, { quick }: Scale): Promise<Measurement> {
  const live = LIVE / (quick ? 100 : 1);
  const load = new LiveLoad(face, live, SPAN);
  await settle();
  const before = await settledMemory();
  const resident = process.memoryUsage.rss();
  await load.set();
  const after = await settledMemory();
  const figures = {
    resident: (process.memoryUsage.rss() - resident) / live,
    heap: (after.heap - before.heap) / live,
    external: (after.external - before.external) / live,
  };
  await load.clear();
  return { figures, checksums: load.checksums() };
}
