import { highestRate, memoryOf, titleOf } from '../../tools/plan/arrangements.ts';
import type { Costs } from '../../tools/plan/costs.ts';
import { type PlannedLoad, proxyTimers } from '../../tools/plan/planned-load.ts';
import { type Arrangement, simulate } from '../../tools/plan/simulation.ts';
import { spreadOf } from '../engine/statistics.ts';

/** What the plan predicts, and what is measured of the replay. */
export const figures = {
  loop: 'event-loop CPU per connection, µs',
  process: 'process CPU per connection, µs',
  highest: 'highest rate, connections/s',
  p50: 'lateness p50, ms',
  p99: 'lateness p99, ms',
  memory: 'memory of timers, MiB',
} as const;

export type Figure = keyof typeof figures;

/** Those that are held against the mark; the others are shown. */
export const held = ['loop', 'process', 'highest'] as const satisfies readonly Figure[];
/** The share of the measurement by which a prediction may be off. */
export const MARK = 0.1;

/** s; short, so that all that will be live is so after a few of them. */
export const LIFETIME = 1;
/** Connections per second of each event loop. */
export const PER_LOOP = 50_000;
/** The same, near to what a loop holds: as many timers are live then as where the highest rate is measured. */
export const NEAR_MOST = 150_000;

/** What one run of the replay came to, and ms per connection of its driver alone: of its loops, beside them, at the highest rate. */
export type Measured = Readonly<Record<Figure | 'work' | 'besideWork' | 'workAtMost', number>>;

export interface Check {
  readonly arrangement: Arrangement;
  readonly rounds: readonly Measured[];
  /** Follows from what was measured. */
  readonly predicted?: Readonly<Record<Figure, number>>;
}

/** What nothing here can be held against. */
export interface Beyond {
  readonly arrangement: Arrangement;
  readonly predicted: Readonly<Record<(typeof held)[number], number>>;
}

export interface PlanResults {
  readonly date: string;
  readonly command: string;
  readonly costs: Costs;
  readonly costsNearMost: Costs;
  readonly checks: readonly Check[];
  readonly beyond?: readonly Beyond[];
}

export const rateOf = ({ loops }: Arrangement): number => loops * PER_LOOP;

export const loadOf = (cps: number): PlannedLoad => ({ cps, timers: proxyTimers(LIFETIME * 1000) });

/** What the driver takes is its work, and measured: the plan predicts what becomes of it with timers. */
export function predict({ costs, costsNearMost }: PlanResults, { arrangement, rounds }: Check): Record<Figure, number> {
  const median = (key: keyof Measured) => spreadOf(rounds.map((each) => each[key])).median;
  const load = loadOf(rateOf(arrangement));
  const own = { ...costs, work: median('work') };
  const { busyCores, lateness, loopCpu } = simulate(load, own, arrangement, 3000);
  const perConnection = 1e6 / load.cps;
  return {
    loop: loopCpu * arrangement.loops * perConnection,
    process: busyCores * perConnection + median('besideWork') * 1000,
    highest: highestRate(load, { ...costsNearMost, work: median('workAtMost') }, arrangement),
    ...lateness,
    memory: memoryOf(load, costs, arrangement) / 2 ** 20,
  };
}

/** The driver's work is that of all arrangements that were measured. */
export function predictBeyond(results: PlanResults, arrangement: Arrangement): Beyond {
  const rounds = results.checks.flatMap((check) => check.rounds);
  return { arrangement, predicted: predict(results, { arrangement, rounds }) };
}

const countOf = (count: number, what: string): string => `${count} ${count === 1 ? what : `${what}s`}`;

export const whereOf = (arrangement: Arrangement): string =>
  `${countOf(arrangement.cores, 'core')}, ${countOf(arrangement.loops, 'loop')}, ${titleOf(arrangement)}`;
