import type { Comparison, Row } from '../comparison.ts';
import { block } from '../figures.ts';
import { figure } from '../format.ts';
import type { ReleaseResults } from '../release-results.ts';
import { describeMachine } from '../results.ts';
import type { Spread } from '../statistics.ts';
import { NONE } from './program-timers.ts';
import { programs } from './programs.ts';

/** Ratios beyond these, in every round, are a difference; anything between is none. */
const [LESS, MORE] = [0.95, 1.05];

const columns = [
  ['loop', 'event-loop CPU'],
  ['process', 'process CPU'],
  ['p99', 'p99'],
  ['bytes', 'memory'],
] as const;

/** Each program on shardwheel, as multiples of what it is on Node's timers, and what follows, as Markdown tables by release. */
export function programsOf(results: ReleaseResults): string {
  return block(
    'programs',
    Object.values(results).flatMap((run, at) => [
      ...(at === 0 ? [] : ['']),
      `\`${run.command}\`, ${run.date.slice(0, 10)}, ${run.rounds} rounds, on ${describeMachine(run.machine)}:`,
      '',
      `| program | on | ${columns.map(([, title]) => title).join(' | ')} | in every round |`,
      `|---|---|${columns.map(() => '---:|').join('')}---|`,
      ...run.comparisons.flatMap((comparison) => linesOf(comparison)),
    ]),
  );
}

function linesOf(comparison: Comparison): string[] {
  const program = programs.find(({ name }) => `programs ${name}` === comparison.suite);
  if (program === undefined) throw new Error(`"${comparison.suite}" is no program any more: take the run anew`);
  return program.subjects.slice(1).map(({ name }, at) => {
    const ratios = columns.map(([key]) => rowOf(comparison, name, key)?.ratio);
    const cells = ratios.map((ratio) => (ratio === undefined ? '–' : spreadOf(ratio)));
    return `| ${at === 0 ? program.title : ''} | ${name} | ${cells.join(' | ')} | ${name === NONE ? 'the least that is possible' : wordsOf(ratios)} |`;
  });
}

function rowOf({ rows }: Comparison, subject: string, key: string): Row | undefined {
  return rows.find((row) => row.subject === subject && row.figure === key);
}

const spreadOf = ({ median, least, most }: Spread): string =>
  least === most ? `${figure(median)}×` : `${figure(median)}× (${figure(least)}–${figure(most)})`;

/** Which figures are less, and which more, than on Node's timers. */
export function wordsOf(ratios: readonly (Spread | undefined)[]): string {
  const named = (isSo: (ratio: Spread) => boolean): string =>
    columns
      .filter((_, at) => ratios[at] !== undefined && isSo(ratios[at]))
      .map(([, title]) => title)
      .join(', ');
  const less = named(({ most }) => most < LESS);
  const more = named(({ least }) => least > MORE);
  const words = [less === '' ? '' : `less ${less}`, more === '' ? '' : `more ${more}`].filter((word) => word !== '');
  return words.length === 0 ? 'no difference' : words.join('; ');
}
