import { type Row, rowIn } from '../../engine/comparison.ts';
import { comparisonOf } from '../../engine/figures.ts';
import { releaseOf } from '../../engine/release-results.ts';
import { describeProcessor, type ReleaseResults, type Results } from '../../engine/results.ts';
import { DEFAULT } from './subjects.ts';

const REFERENCE = '24';

/** The replays of every release, the reference first. */
export const replaysOf = ({ [REFERENCE]: reference, ...others }: ReleaseResults): Results[] => [
  reference,
  ...Object.values(others),
];

/** When, in how many rounds and where they were measured. */
export function describeReplays(runs: readonly Results[]): string {
  const [{ date, machine }] = runs;
  const rounds = runs.map((run) => `${run.rounds} rounds on Node ${releaseOf(run)}`);
  return `Medians of ${rounds.join(', ')}, ${date.slice(0, 10)}, on ${describeProcessor(machine)}, ${machine.memory}.`;
}

export const medianOf = (run: Results, suite: string, subject: string, key: string): number =>
  rowOf(run, suite, subject, key).value.median;

/** The median of the rounds' own factors. */
export const ratioOf = (run: Results, suite: string, key: string): number =>
  rowOf(run, suite, DEFAULT, key).ratio?.median ?? Number.NaN;

function rowOf(run: Results, suite: string, subject: string, key: string): Row {
  const row = rowIn(comparisonOf(run, suite), subject, key);
  if (row === undefined) throw new Error(`the run on ${run.machine.node} has no "${key}" of ${subject}: take it anew`);
  return row;
}
