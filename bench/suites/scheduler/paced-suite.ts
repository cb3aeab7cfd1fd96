import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure, Measurement, Scale, SubjectEntry, Suite } from '../../engine/suite.ts';
import { Load, type LoadOptions } from './load.ts';
import { type PacedLoad, type PacedResult, runPaced } from './paced-run.ts';
import { createSubject, DRIVER, NODE } from './subjects.ts';

export interface PacedSuiteOptions {
  readonly name: string;
  readonly title: string;
  readonly codes: readonly string[];
  readonly about: string;
  readonly subjects: readonly SubjectEntry[];
  /** Operations per second. */
  readonly rate: number;
  readonly load: Omit<LoadOptions, 'live'>;
  readonly figures?: readonly Figure[];
  measure?(load: Load): Record<string, number>;
  /** Performs a slice for a subject: it may be within something. Default: it is performed as it is. */
  around?(subject: string, perform: () => void): void;
  /** Default: node:timers. */
  readonly base?: string;
  readonly otherBases?: readonly string[];
}

/** What one operation takes, or one timer that fires. */
export const cpuEach: readonly Figure[] = [
  { key: 'loop', title: 'event-loop CPU', unit: 'ns each', net: true },
  { key: 'process', title: 'process CPU', unit: 'ns each', net: true },
];

const LIVE = 1_000_000;
const SECONDS = 3;
/** Of the same work, before anything is measured. */
const WARM_UP = 0.5;

/** A suite in which a million timers live and operations come at a steady rate for three seconds. */
export function pacedSuite(options: PacedSuiteOptions): Suite {
  const { name, title, codes, about, subjects, figures = [], base = NODE, otherBases = [] } = options;
  return {
    name,
    title,
    codes,
    about: `1 M live, ${options.rate.toLocaleString('en-US')} per second for ${SECONDS} s in slices of 1 ms. ${about}`,
    base,
    otherBases,
    idle: DRIVER,
    subjects,
    figures: [
      ...cpuEach,
      ...figures,
      { key: 'rate', title: 'reached', unit: 'per second', moreIsBetter: true },
      { key: 'block', title: 'longest block', unit: 'ms' },
    ],
    run: (subject, scale) => measure(options, subject, scale),
  };
}

async function measure(options: PacedSuiteOptions, subject: string, scale: Scale): Promise<Measurement> {
  const live = scale.quick ? 4000 : LIVE;
  const load = new Load((handles, onFire) => createSubject(subject, handles, onFire), { ...options.load, live });
  const { around = (_, perform) => perform() } = options;
  const paced: PacedLoad = {
    perform: (count) => around(subject, () => load.perform(count)),
    measureFrom: () => load.measureFrom(),
  };
  await load.prepare();
  await sleep(scale.quick ? 20 : 500);
  await runPaced(paced, options.rate, scale.quick ? 0.01 : WARM_UP);
  const result = await runPaced(paced, options.rate, scale.quick ? 0.04 : SECONDS);
  const figures = { ...figuresOf(result), ...options.measure?.(load) };
  await load.close();
  return { figures, checksums: { operations: load.operations } };
}

function figuresOf({ block, cpu, operations, rate }: PacedResult): Record<string, number> {
  const loop = (cpu.thread * 1e6) / operations;
  return { loop, process: (cpu.process * 1e6) / operations, rate, block };
}
