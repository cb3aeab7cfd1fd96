import type { Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { withEmptyPackage } from './empty-package.ts';
import { figuresOfProgram } from './spawned.ts';

const EMPTY = 'an empty package';
const TIMES = 7;
const entries = ['', '/timers', '/wheel', '/dashboard', '/durable', '/prometheus'].map((entry) => `shardwheel${entry}`);

/** (p) What an import of each entry takes. */
export const importSuite: Suite = {
  name: 'loading import',
  title: 'Loading: the import of each entry',
  codes: ['p', 'loading'],
  about:
    `await import() in a process that has imported nothing else, by the clock; how much more memory is resident then; modules of ` +
    `Node itself that it loads. Medians of ${TIMES} processes each, by turns.`,
  base: 'piscina',
  idle: EMPTY,
  subjects: [
    { name: EMPTY, note: 'an ES module without a line: its own figures, which are taken off those of the others' },
    ...entries.map((name) => ({ name })),
    { name: 'piscina', note: 'the pool that starts the threads of shards, for comparison' },
  ],
  figures: [
    { key: 'time', title: 'import', unit: 'ms', net: true },
    { key: 'memory', title: 'resident', unit: 'MB', net: true },
    { key: 'builtins', title: "modules of Node's", unit: '', net: true },
  ],
  ...byTurns(
    ({ quick }) => (quick ? 1 : TIMES),
    (subject) =>
      withEmptyPackage(({ module }) => figuresOfProgram('import-process', [subject === EMPTY ? module : subject])),
  ),
};
