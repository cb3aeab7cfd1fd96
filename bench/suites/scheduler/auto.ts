import { setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type Scheduler } from 'shardwheel';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { Load, type LoadOptions } from './load.ts';
import { type PacedLoad, runPaced } from './paced-run.ts';
import { perSecond } from './per-second.ts';
import { ReplaySteps } from './replay-steps.ts';
import { timersOf } from './subjects.ts';

/** What a program asks of its scheduler, steadily. */
interface SteadyLoad extends PacedLoad {
  prepare?(): Promise<void>;
  /** Closes the scheduler, and throws unless every timer is accounted for. Default: it is only closed. */
  close?(): Promise<void>;
}

interface AutoLoad {
  /** The second word of its suite's name. */
  readonly name: string;
  readonly title: string;
  /** Operations per second. */
  readonly rate: number;
  create(scheduler: Scheduler, scale: Scale): SteadyLoad;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Seconds at the load's rate, within which `'auto'` decides and a thread starts; and for which it is measured. */
const SETTLE = 4;
const MEASURED = 4;

const nothing = (): void => undefined;

const loadOf =
  (options: LoadOptions) =>
  (scheduler: Scheduler, { quick }: Scale): SteadyLoad => {
    const live = quick ? Math.min(options.live, 4000) : options.live;
    return new Load((handles, onFire) => timersOf(scheduler, handles, onFire), { ...options, live });
  };

const loads: readonly AutoLoad[] = [
  {
    name: 'few',
    title: '1,000 live, 10,000 pairs of cancel + schedule per second',
    rate: 10_000,
    create: loadOf({ live: 1000, operation: 'random', span: MINUTE }),
  },
  {
    name: 'many',
    title: '1 M live, 200,000 pairs per second of random timers',
    rate: 200_000,
    create: loadOf({ live: 1_000_000, operation: 'random', span: MINUTE }),
  },
  {
    name: 'short',
    title: '50,000 timers per second of 1 to 200 ms, all of which come due',
    rate: 50_000,
    create: (scheduler) => {
      let delay = 0;
      return {
        perform: (count) => {
          for (let i = 0; i < count; i++) {
            delay = (delay % 200) + 1;
            scheduler.scheduleAfter(i, delay, nothing);
          }
        },
      };
    },
  },
  {
    name: 'long',
    title: '500,000 live of up to an hour, 200,000 random ones moved per second',
    rate: 200_000,
    create: loadOf({ live: 500_000, operation: 'move', span: HOUR, least: MINUTE }),
  },
  {
    name: 'bursts',
    title: '100,000 timers per second, all due in one millisecond of each second',
    rate: 100_000,
    create: (scheduler) => ({
      perform: (count) => {
        const due = SECOND * Math.ceil(scheduler.now() / SECOND + 1);
        for (let i = 0; i < count; i++) scheduler.schedule(i, due, nothing);
      },
    }),
  },
  {
    name: 'equal',
    title: '200,000 live of 30 s, 200,000 pairs per second, the newest cancelled first',
    rate: 200_000,
    create: loadOf({ live: 200_000, operation: 'newest', span: 30 * SECOND, isEqual: true }),
  },
  {
    name: 'repeating',
    title: '50,000 heartbeats, each called once a second',
    rate: 1000,
    create: (scheduler, { quick }) => ({
      prepare: async () => {
        for (let lot = 0; lot < 100; lot++) {
          for (let i = 0; i < (quick ? 5 : 500); i++) scheduler.scheduleEvery(i, SECOND, nothing);
          await sleep(SECOND / 100);
        }
      },
      perform: nothing,
    }),
  },
  {
    name: 'replay',
    title: '20,000 connections per second of the replay',
    rate: 20_000,
    create: (scheduler) => new ReplaySteps(scheduler, 20_000 * (SETTLE + MEASURED)),
  },
];

const INLINE = 'inline';
export const AUTO = 'auto';
const ways: Readonly<Record<string, number | 'auto'>> = { [INLINE]: 0, 'a thread': 1, [AUTO]: 'auto' };

/** What `shards: 'auto'` has to choose between, for one load, and what it chooses. */
function autoSuite({ create, name, rate, title }: AutoLoad): Suite {
  return {
    name: `auto ${name}`,
    title: `'auto', ${name}: ${title}`,
    codes: ['auto'],
    about:
      `${MEASURED} s, ${SETTLE} s after the load has begun. The driver's own CPU is in it. Lateness: as the scheduler counts it. ` +
      'Wakes: a thread of the process went to sleep.',
    base: INLINE,
    subjects: Object.keys(ways).map((way) => ({ name: way })),
    figures: [
      { key: 'loop', title: 'event-loop CPU', unit: '% of a core' },
      { key: 'process', title: 'process CPU', unit: '% of a core' },
      { key: 'p50', title: 'late p50', unit: 'ms' },
      { key: 'p99', title: 'p99', unit: 'ms' },
      { key: 'wakes', title: 'wakes of all threads', unit: 'per second' },
      { key: 'threads', title: 'on a thread at the end', unit: '' },
    ],
    run: async (way, scale): Promise<Measurement> => {
      const scheduler = createScheduler({ shards: ways[way] });
      await scheduler.ready;
      const load = create(scheduler, scale);
      await load.prepare?.();
      const part = scale.quick ? 0.02 : 1;
      await runPaced(load, rate, SETTLE * part);
      const interval = scheduler.statsInterval();
      const used = await perSecond(async () => (await runPaced(load, rate, MEASURED * part)).cpu);
      const { count, p50, p99 } = interval.next().lateness;
      const { serving } = await scheduler.stats();
      if (load.close === undefined) await scheduler.close();
      else await load.close();
      const figures = {
        loop: (100 * used.loop) / SECOND,
        process: (100 * used.process) / SECOND,
        wakes: used.wakes,
        ...(count > 0 && { p50, p99 }),
        threads: serving.by === 'threads' ? 1 : 0,
      };
      return { figures, checksums: {} };
    },
  };
}

export const autoSuites: readonly Suite[] = loads.map(autoSuite);
