import { fileURLToPath } from 'node:url';
import type { Figure, Suite } from '../../engine/suite.ts';
import { byTurns } from '../loading/by-turns.ts';
import { figuresOfProcess } from '../loading/spawned.ts';
import * as fires from './fires-load.ts';
import * as pairs from './pairs-load.ts';
import { DRIVER, flagsOf, NODE, rateSubjects } from './rate-subjects.ts';
import type { RateTask } from './rate-task.ts';
import * as replay from './replay-load.ts';

/** One load at several rates. */
export interface RatedLoad {
  readonly load: RateTask['load'];
  readonly rates: readonly number[];
  /** What happens so often. */
  readonly title: string;
  readonly about: string;
  readonly figures: readonly Figure[];
}

const program = fileURLToPath(new URL(`./rate-process${import.meta.url.slice(-3)}`, import.meta.url));

const used = (stretch = ''): Figure[] => {
  const [key, title] = stretch === '' ? ['', ''] : [`, ${stretch}`, `${stretch}: `];
  return [
    { key: `loop${key}`, title: `${title}event-loop CPU`, unit: 'ns each', net: true },
    { key: `process${key}`, title: `${title}process CPU`, unit: 'ns each', net: true },
    { key: `wakes${key}`, title: `${title}wakes of all threads`, unit: 'per second', net: true },
  ];
};

const late = (stretch = ''): Figure[] => {
  const [key, title] = stretch === '' ? ['', ''] : [`, ${stretch}`, `${stretch}: `];
  return [
    { key: `p50${key}`, title: `${title}late p50`, unit: 'ms' },
    { key: `p99${key}`, title: `${title}p99`, unit: 'ms' },
  ];
};

const reached = (key: string, unit: string): Figure => ({ key, title: 'reached', unit, moreIsBetter: true });

const OWN_PROCESS =
  'Each subject in a process of its own, which has imported nothing else. Wakes: its threads went to sleep.';

/** In this order. */
export const ratedLoads: readonly RatedLoad[] = [
  {
    load: 'fires',
    rates: [10, 100, 1000, 10_000, 100_000],
    title: 'timers a second that fire',
    about:
      'Chains of timers: each sets its successor in its own callback, so nothing but timers wakes the process, and what is set does not ' +
      'come in lots, which a scheduler would take at a discount. There are as many chains as fires a second; delays are whole ms, uniform from ' +
      `${fires.LEAST} to ${fires.LEAST + fires.SPAN - 1}. A timer of 1 ms has fired before: what a first one takes is in "Loading". ` +
      `Cold: the next ${fires.COLD} s. Warm: ${fires.WARM} s more, when 25,000 other timers have fired. Each is a set and a fire. The driver ` +
      `waits, and does what the callbacks do in one go. ${OWN_PROCESS}`,
    figures: [
      ...[...used('cold'), ...late('cold'), ...used('warm'), ...late('warm')],
      reached('reached, cold', 'fires/s'),
    ],
  },
  {
    load: 'pairs',
    rates: [100, 1000, 10_000, 100_000],
    title: 'timeouts a second that are set and cancelled',
    about:
      `Timeouts of ${pairs.TIMEOUT} ms, equal as in a program and Node's best case, each cancelled after ${pairs.CANCELLED_AFTER} ms. The driver wakes ` +
      `${1000 / pairs.SLICE} times a second, cancels a slice and sets the next. For ${pairs.MEASURED} s, after ${pairs.TIMEOUT / 1000} s of the same ` +
      `and 25,000 other pairs. Node's timers take so little of it that their own share can be lost in what the driver's differs by: then the whole is what to ` +
      `compare. ${OWN_PROCESS}`,
    figures: [
      ...used(),
      { key: 'whole', title: 'event-loop CPU with the driver', unit: 'ns each' },
      reached('reached', 'pairs/s'),
    ],
  },
  {
    load: 'replay',
    rates: [500, 1000, 5000, 20_000, 50_000, 100_000],
    title: 'connections a second of the replay',
    about:
      'The four timers of a connection as npm start has them, and its driver, which wakes every ms. From a cold start; ' +
      `${replay.MEASURED} s are measured, ${replay.BEFORE} s after the first arrival. Each is a set, a move or a cancel, as npm start counts. ${OWN_PROCESS}`,
    figures: [...used(), ...late(), reached('reached', 'connections/s')],
  },
];

/** `npm run bench -- rates fires-1000/s` runs one of them. */
export const rateSuiteName = (load: RateTask['load'], rate: number): string => `rates ${load}-${rate}/s`;

/** (r) What timers cost, from few to many. */
export const rateSuites: readonly Suite[] = ratedLoads.flatMap(({ load, rates, title, about, figures }) =>
  rates.map(
    (rate): Suite => ({
      name: rateSuiteName(load, rate),
      title: `Rates: ${rate.toLocaleString('en-US')} ${title}`,
      codes: ['r'],
      about,
      base: NODE,
      idle: DRIVER,
      subjects: rateSubjects,
      figures,
      spawns: true,
      ...byTurns(
        () => 1,
        (subject, _part, { quick }) => {
          const task: RateTask = { load, subject, rate, quick };
          return figuresOfProcess([...flagsOf(subject), program, JSON.stringify(task)]);
        },
      ),
    }),
  ),
);
