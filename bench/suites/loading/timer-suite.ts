import type { Suite } from '../../engine/suite.ts';
import { byTurns } from './by-turns.ts';
import { figuresOfProgram } from './spawned.ts';

const TIMES = 20;

/** (p) How late the first timer of a process comes. */
export const timerSuite: Suite = {
  name: 'loading timer',
  title: 'Loading: the first timer of a process',
  codes: ['p', 'loading'],
  about:
    'When all is imported, one timer of 20 ms is set, the first of its process: how late it comes, and how long the call takes ' +
    `that sets it. Medians of ${TIMES} processes each, by turns.`,
  base: 'node:timers',
  subjects: [
    { name: 'node:timers', note: 'it counts whole milliseconds, and may come a part of one early' },
    { name: 'shardwheel/timers', note: 'its setTimeout, whose first call makes the scheduler' },
    { name: 'scheduleAfter', note: 'of a scheduler that was made before, by createScheduler() without options' },
    { name: 'createScheduler, scheduleAfter', note: 'both calls count' },
  ],
  figures: [
    { key: 'late', title: 'late', unit: 'ms' },
    { key: 'call', title: 'the call', unit: 'ms' },
  ],
  ...byTurns(
    ({ quick }) => (quick ? 1 : TIMES),
    (subject) => figuresOfProgram('timer-process', [subject]),
  ),
};
