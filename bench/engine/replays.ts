import { type Row, rowIn } from './comparison.ts';
import { comparisonOf } from './figures.ts';
import { releaseOf } from './release-results.ts';
import { describeProcessor, type ReleaseResults, type Results } from './results.ts';

/** The load of `npm start`, and the same with `--contexts`. */
export const REPLAY = 'scheduler replay';
export const IN_CONTEXTS = 'scheduler traced';

export const DRIVER = 'driver alone';
export const NODE = 'node:timers';
export const OURS = 'shards auto';

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
  rowOf(run, suite, OURS, key).ratio?.median ?? Number.NaN;

function rowOf(run: Results, suite: string, subject: string, key: string): Row {
  const row = rowIn(comparisonOf(run, suite), subject, key);
  if (row === undefined) throw new Error(`the run on ${run.machine.node} has no "${key}" of ${subject}: take it anew`);
  return row;
}
