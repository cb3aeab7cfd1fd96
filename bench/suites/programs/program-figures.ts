import { type Comparison, rowIn, subjectsIn } from '../../engine/comparison.ts';
import { block, introductionOf } from '../../engine/figures.ts';
import { figure } from '../../engine/format.ts';
import type { ReleaseResults } from '../../engine/results.ts';
import type { Spread } from '../../engine/statistics.ts';
import { NONE } from './program.ts';

/** Ratios beyond these, in every round, are a difference; anything between is none. */
const [LESS, MORE] = [0.95, 1.05];

const columns = [
  ['loop', 'event-loop CPU'],
  ['process', 'process CPU'],
  ['p99', 'p99'],
  ['bytes', 'memory'],
] as const;

/**
 * Each program on shardwheel, as multiples of what it is on Node's timers, and what follows, as Markdown tables by
 * release.
 */
export function programsOf(results: ReleaseResults): string {
  return block(
    'programs',
    Object.values(results).flatMap((run, at) => [
      ...(at === 0 ? [] : ['']),
      `${introductionOf(run)}:`,
      '',
      `| program | on | ${columns.map(([, title]) => title).join(' | ')} | by more than 5 %${run.rounds === 1 ? ', in one round' : ', in every round'} |`,
      `|---|---|${columns.map(() => '---:|').join('')}---|`,
      ...run.comparisons.flatMap((comparison) => linesOf(comparison)),
    ]),
  );
}

function linesOf(comparison: Comparison): string[] {
  const title = comparison.title.replace('Programs: ', '');
  const others = subjectsIn(comparison).filter((subject) => subject !== comparison.base);
  return others.map((name, at) => {
    const ratios = columns.map(([key]) => rowIn(comparison, name, key)?.ratio);
    const cells = ratios.map((ratio) => (ratio === undefined ? '–' : spreadOf(ratio)));
    const words = name === NONE ? 'the least that is possible' : wordsOf(ratios);
    return `| ${at === 0 ? title : ''} | ${name} | ${cells.join(' | ')} | ${words} |`;
  });
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
