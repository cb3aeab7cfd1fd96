import type { Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { type Figures, figuresOfProgram } from './spawned.ts';

const TIMES = 7;
const INLINE = 'an inline scheduler';
/** Shards, and threads that only wait. */
const subjects: Readonly<Record<string, readonly [shards: number, parked: number]>> = {
  [INLINE]: [0, 0],
  '1 shard': [1, 0],
  '8 shards': [8, 0],
  'a parked thread': [0, 1],
  '8 parked threads': [0, 8],
};

const measure = (shards: number | 'none', parked: number) =>
  figuresOfProgram('threads-process', [String(shards), String(parked)]);

/** (p) How long threads of shards take to start, and what each takes. */
export const threadsSuite: Suite = {
  name: 'loading threads',
  title: "Loading: the start of shards' threads",
  codes: ['p', 'loading'],
  about:
    'From createScheduler() until scheduler.ready, by the clock; what is resident then, less what is of the same program with an ' +
    `inline scheduler, for each thread; of the inline scheduler itself, less the same without one. Medians of ${TIMES} processes ` +
    'each, by turns.',
  base: 'a parked thread',
  subjects: Object.keys(subjects).map((name) => ({
    name,
    ...(name.includes('parked') && { note: 'new Worker, until its message; it waits in Atomics.wait' }),
  })),
  figures: [
    { key: 'time', title: 'until all are ready', unit: 'ms' },
    { key: 'memory', title: 'resident, each', unit: 'MB' },
    { key: 'beyond', title: 'beyond a parked thread, each', unit: 'MB' },
  ],
  ...byTurns(
    ({ quick }) => (quick ? 1 : TIMES),
    async (subject): Promise<Figures> => {
      const [shards, parked] = subjects[subject];
      const { time, memory } = await measure(shards, parked);
      if (subject === INLINE) return { time, memory: memory - (await measure('none', 0)).memory };
      const inline = await measure(0, 0);
      const each = (memory - inline.memory) / (shards + parked);
      if (shards === 0) return { time, memory: each };
      return { time, memory: each, beyond: (memory - (await measure(0, shards)).memory) / shards };
    },
  ),
};
