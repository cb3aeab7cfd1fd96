import type { Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { type EmptyPackage, withEmptyPackage } from './empty-package.ts';
import { reportAtExit } from './exit-report.ts';
import { figuresOfProcess } from './spawned.ts';

const TIMES = 7;
const [EMPTY_IMPORT, EMPTY_REQUIRE] = ['an empty --import', 'an empty --require'];
const registrations = ['--import shardwheel/register', '--require shardwheel/register'] as const;

const flagsOf: Readonly<Record<string, (empty: EmptyPackage) => string[]>> = {
  nothing: () => [],
  [EMPTY_IMPORT]: ({ module }) => ['--import', module],
  [EMPTY_REQUIRE]: ({ commonjs }) => ['--require', commonjs],
  [registrations[0]]: () => registrations[0].split(' '),
  [registrations[1]]: () => registrations[1].split(' '),
};

/** (p) What a process takes whose timers are ours, and that sets none. */
export const registerSuite: Suite = {
  name: 'loading register',
  title: 'Loading: the preload of shardwheel/register',
  codes: ['p', 'loading'],
  about:
    `A process that does nothing, from its start to its end: CPU of all threads, and what is resident at the end. Medians of ${TIMES} ` +
    'processes each, by turns. From those with shardwheel/register that of the same flag with an empty module is taken off.',
  base: '',
  subjects: [
    { name: 'nothing' },
    { name: EMPTY_IMPORT },
    { name: EMPTY_REQUIRE },
    { name: registrations[0], idle: EMPTY_IMPORT },
    { name: registrations[1], idle: EMPTY_REQUIRE },
  ],
  figures: [
    { key: 'cpu', title: 'process CPU', unit: 'ms', net: true },
    { key: 'memory', title: 'resident', unit: 'MB', net: true },
  ],
  ...byTurns(
    ({ quick }) => (quick ? 1 : TIMES),
    (subject) => withEmptyPackage((empty) => figuresOfProcess([...flagsOf[subject](empty), '-e', reportAtExit])),
  ),
};
