import type { Figure, Measurement, Scale, SubjectEntry, Suite } from '../../engine/suite.ts';
import type { CpuUse } from '../../replay/cpu-meter.ts';
import { Load, type LoadOptions } from './load.ts';
import { runPaced } from './paced-run.ts';
import { perSecond, rest } from './per-second.ts';
import { createSubject, DRIVER, driverEntry, nodeEntry } from './subjects.ts';

interface SlackSuiteOptions {
  /** The second word of its name. */
  readonly load: string;
  readonly title: string;
  readonly about: string;
  /** Timers that live all the time. */
  readonly live: number;
  /** Operations per second; 0: timers are set, and come due. */
  readonly rate: number;
  readonly timers: Omit<LoadOptions, 'live' | 'measuresLateness'>;
}

const MINUTE = 60_000;
const SECONDS = 2;
/** ms before the measurement begins, of the same work. */
const WARM_UP = 500;

const subjects: readonly SubjectEntry[] = [
  driverEntry,
  nodeEntry,
  ...[0, 10, 100].map((slack) => ({ name: `slack ${slack}`, note: '1 shard; scheduleAfter() and rescheduleAfter()' })),
  ...[0, 10, 100].map((slack) => ({ name: `slack ${slack}, inline`, note: 'the same with no thread' })),
];

const figures: readonly Figure[] = [
  { key: 'wakes', title: 'wakes of all threads', unit: 'per second' },
  { key: 'loop', title: 'event-loop CPU', unit: 'ms per second', net: true },
  { key: 'process', title: 'process CPU', unit: 'ms per second', net: true },
  { key: 'p50', title: 'late p50', unit: 'ms' },
  { key: 'p99', title: 'p99', unit: 'ms' },
  { key: 'max', title: 'most', unit: 'ms' },
  { key: 'early', title: 'early', unit: 'timers' },
];

function slackSuite({ load, title, about, live, rate, timers }: SlackSuiteOptions): Suite {
  return {
    name: `slack ${load}`,
    title: `Slack: ${title}`,
    codes: ['n'],
    about: `${about} For ${SECONDS} s. Wakes are how often a thread of the process went to sleep, its driver's and V8's among them.`,
    base: 'slack 0',
    idle: DRIVER,
    subjects,
    figures,
    run: async (subject, scale) => {
      const options = { ...timers, live: scale.quick ? 4000 : live, measuresLateness: true };
      const made = new Load((handles, onFire) => createSubject(subject, handles, onFire), options);
      await made.prepare();
      return await measure(made, rate, scale);
    },
  };
}

async function measure(load: Load, rate: number, scale: Scale): Promise<Measurement> {
  const ms = scale.quick ? 40 : SECONDS * 1000;
  await work(load, rate, scale.quick ? 10 : WARM_UP);
  const used = await perSecond(() => work(load, rate, ms));
  const { p50, p99, max } = load.lateness.summary();
  const result = { ...used, p50, p99, max, early: load.early };
  await load.close();
  return { figures: result, checksums: { operations: load.operations } };
}

/** So much of the load; no operations at all where the timers only come due. */
async function work(load: Load, rate: number, ms: number): Promise<CpuUse> {
  if (rate > 0) return (await runPaced(load, rate, ms / 1000)).cpu;
  load.measureFrom();
  return rest(ms);
}

/** (n) What wakes cost, where timers may wait for one another. */
export const slackSuites: readonly Suite[] = [
  slackSuite({
    load: 'firing',
    title: '20,000 timers per second come due',
    about: '1.2 M live, delays uniform in (0, 60 s], and nothing else to do.',
    live: 1_200_000,
    rate: 0,
    timers: { operation: 'random', span: MINUTE },
  }),
  slackSuite({
    load: 'newest',
    title: 'cancel + schedule, newest first',
    about: '1 M live, 200,000 pairs per second in slices of 1 ms, as in (b). Delays uniform in (0, 60 s].',
    live: 1_000_000,
    rate: 200_000,
    timers: { operation: 'newest', span: MINUTE },
  }),
  slackSuite({
    load: 'idle',
    title: 'idle timeouts, pushed on',
    about:
      '30,000 live, 100,000 moves per second in slices of 1 ms: a random timer is due 2 s from now again. Few fire.',
    live: 30_000,
    rate: 100_000,
    timers: { operation: 'move', span: 2000, isEqual: true },
  }),
];
