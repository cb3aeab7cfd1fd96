import type { Costs } from '../../tools/plan/costs.ts';
import type { Arrangement } from '../../tools/plan/simulation.ts';
import type { Spread } from '../statistics.ts';

/** What the plan foretells, and what is measured of the replay. */
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
export const held: readonly Figure[] = ['loop', 'process', 'highest'];
/** The share of the measurement by which a prediction may be off. */
export const MARK = 0.15;

export interface Check {
  readonly arrangement: Arrangement;
  readonly figure: Figure;
  readonly predicted: number;
  readonly measured: Spread;
}

export interface PlanResults {
  readonly date: string;
  readonly command: string;
  readonly rounds: number;
  readonly cps: number;
  readonly lifetime: number;
  readonly machine: Costs['machine'];
  readonly checks: readonly Check[];
}

/** Predicted, of what was measured. */
export const ratioOf = ({ measured, predicted }: Check): number => predicted / measured.median;

export const isWithin = (check: Check): boolean => Math.abs(ratioOf(check) - 1) <= MARK;
