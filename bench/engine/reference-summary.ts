import { rowIn } from './comparison.ts';
import { block, comparisonOf } from './figures.ts';
import { figure } from './format.ts';
import { releaseOf } from './release-results.ts';
import { describeMachine, describeProcessor, type Results } from './results.ts';

/** The load of `npm start`, in rounds: what is compared, and what of it a reader sees first. */
const SUITE = 'scheduler replay';
const OURS = 'shards auto';
const NODE = 'node:timers';

const rows = [
  ['loop', 'event-loop CPU per timer operation', 'ns'],
  ['process', 'CPU of the whole process per timer operation', 'ns'],
  ['bytes', 'memory per live timer', 'bytes'],
  ['p50', 'half of the timers come within', 'ms'],
  ['p99', '99 of 100 timers come within', 'ms'],
  ['block', 'the longest time that the event loop stood still', 'ms'],
  ['early', 'timers that came too early', ''],
] as const;

/** What the default comes to on the reference, with how it is on the other releases, as a Markdown table. */
export function referenceSummaryOf(reference: Results, others: readonly Results[]): string {
  const runs = [reference, ...others];
  const releases = runs.map(releaseOf).sort();
  const rounds = listed(
    runs.map((run) => `${run.rounds} rounds on Node ${releaseOf(run)}${elsewhere(run, reference)}`),
  );
  return block('reference-summary', [
    `| | Node's timers | shardwheel | of Node's | on Node ${listed(releases)} |`,
    '|---|---:|---:|---:|---:|',
    ...rows.map(([key, title, unit]) => {
      const [before, after] = [medianOf(reference, NODE, key), medianOf(reference, OURS, key)];
      const ratios = runs.map((run) => ratioOf(run, key));
      const shown = [before, after].map((value) => [figure(value), unit].filter((part) => part !== '').join(' '));
      const gain = `${figure(ratios[0])}×`;
      return `| ${[title, ...shown, gain, range(ratios)].join(' | ')} |`;
    }),
    '',
    `Medians of ${reference.rounds} rounds, ${reference.date.slice(0, 10)}, on ${describeMachine(reference.machine)}. The last column has the least and the ` +
      `most of all releases: ${rounds}. A factor is the median of the rounds' own factors.`,
  ]);
}

/** Names the processor of a run if it is not that of the reference. */
const elsewhere = ({ machine }: Results, reference: Results): string =>
  machine.cpu === reference.machine.cpu ? '' : ` (${describeProcessor(machine)})`;

const rowOf = (run: Results, subject: string, key: string) => {
  const row = rowIn(comparisonOf(run, SUITE), subject, key);
  if (row === undefined) throw new Error(`the run on ${run.machine.node} has no "${key}" of ${subject}: take it anew`);
  return row;
};

const medianOf = (run: Results, subject: string, key: string): number => rowOf(run, subject, key).value.median;

const ratioOf = (run: Results, key: string): number => rowOf(run, OURS, key).ratio?.median ?? Number.NaN;

function range(ratios: readonly number[]): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(figure);
  return least === most ? `${least}×` : `${least}× to ${most}×`;
}

const listed = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
