import type { Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { figuresOfProgram } from './spawned.ts';

const TIMES = 7;
/** Shards, and threads that only wait. */
const subjects: Readonly<Record<string, readonly [shards: number, parked: number]>> = {
  '1 shard': [1, 0],
  '8 shards': [8, 0],
  'a parked thread': [0, 1],
  '8 parked threads': [0, 8],
};

const measure = ([shards, parked]: readonly [number, number]) =>
  figuresOfProgram('threads-process', [String(shards), String(parked)]);

/** (p) How long threads of shards take to start, and what each takes. */
export const threadsSuite: Suite = {
  name: 'loading threads',
  title: "Loading: the start of shards' threads",
  codes: ['p', 'loading'],
  about:
    'From createScheduler() until scheduler.ready, by the clock; what is resident then, less what is of the same program with an ' +
    `inline scheduler, for each thread. Medians of ${TIMES} processes each, by turns.`,
  base: 'a parked thread',
  subjects: Object.keys(subjects).map((name) => ({
    name,
    ...(name.includes('parked') && { note: 'new Worker, until its message; it waits in Atomics.wait' }),
  })),
  figures: [
    { key: 'time', title: 'until all are ready', unit: 'ms' },
    { key: 'memory', title: 'resident, each', unit: 'MB' },
  ],
  ...byTurns(
    ({ quick }) => (quick ? 2 : TIMES),
    async (subject) => {
      const threads = subjects[subject];
      const inline = await measure([0, 0]);
      const { time, memory } = await measure(threads);
      return { time, memory: (memory - inline.memory) / (threads[0] + threads[1]) };
    },
  ),
};
