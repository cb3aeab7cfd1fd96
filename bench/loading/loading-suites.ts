import type { Suite } from '../suite.ts';
import type { Target } from '../target.ts';
import { EMPTY, importSuite } from './import-suite.ts';
import { programsSuite } from './programs-suite.ts';
import { registerSuite, registrations } from './register-suite.ts';
import { threadsSuite } from './threads-suite.ts';
import { timerSuite } from './timer-suite.ts';

/** (p) What it takes to load, start and preload the package, each in processes of its own. */
export const loadingSuites: readonly Suite[] = [importSuite, registerSuite, threadsSuite, timerSuite, programsSuite];

const imported = (subject: string, figure: string, most: number, unit: string): Target => ({
  title: `(p) import, ${figure}`,
  suite: importSuite.name,
  subject,
  figure,
  most,
  unit,
  of: `${subject}, over ${EMPTY}`,
});

const registered = (subject: string, figure: string, most: number, unit: string): Target => ({
  title: `(p) preload, ${figure === 'cpu' ? 'process CPU' : figure}`,
  suite: registerSuite.name,
  subject,
  figure,
  most,
  unit,
  of: `${subject}, over an empty one`,
});

const program = (figure: string, title: string): Target => ({
  title: `(p) ${title}`,
  suite: programsSuite.name,
  subject: 'registered',
  figure,
  most: 1.03,
  unit: '',
  of: 'registered / plain',
});

export const loadingTargets: readonly Target[] = [
  ...['shardwheel', 'shardwheel/timers'].flatMap((entry) => [
    imported(entry, 'time', 17, 'ms'),
    imported(entry, 'memory', 9, 'MB'),
  ]),
  imported('shardwheel/wheel', 'time', 5, 'ms'),
  imported('shardwheel/wheel', 'memory', 4, 'MB'),
  ...registrations.flatMap((flag) => [registered(flag, 'cpu', 8, 'ms'), registered(flag, 'memory', 4, 'MB')]),
  {
    title: '(p) first timer of a process, late',
    suite: timerSuite.name,
    subject: 'scheduleAfter',
    figure: 'late',
    most: 4,
    unit: 'ms',
    of: 'scheduleAfter',
  },
  program('gateway', 'gateway, process CPU per request'),
  program('commands', 'commands, process CPU per command'),
];
