import { type Comparison, rowIn, subjectsIn } from '../../engine/comparison.ts';
import { aboutOf, block, comparisonOf, introductionOf } from '../../engine/figures.ts';
import { figure, withSpread } from '../../engine/format.ts';
import type { ReleaseResults, Results } from '../../engine/results.ts';

/** What loading takes on each release, as a Markdown table per suite. */
export function loadingFiguresOf(results: ReleaseResults): string {
  const runs = Object.values(results);
  return block('loading', [
    ...runs.map((run) => `${introductionOf(run)}<br>`),
    'Medians of the rounds, with the least and the most; × is the median of the ratios of the rounds.',
    ...runs[0].comparisons.flatMap((comparison) => ['', ...tableOf(comparison, runs)]),
  ]);
}

function tableOf(comparison: Comparison, runs: readonly Results[]): string[] {
  const { figures, suite, title } = comparison;
  const columns = runs.flatMap((run) => figures.map((each) => ({ run, of: comparisonOf(run, suite), ...each })));
  const heads = columns.map(({ run, title, unit }) =>
    [`${title}, Node ${Number.parseInt(run.machine.node.slice(1), 10)}`, unit].filter((word) => word !== '').join(', '),
  );
  return [
    `**${title}.** ${aboutOf(comparison)}`,
    '',
    `| | ${heads.join(' | ')} |`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...subjectsIn(comparison).map(
      (name) => `| ${name} | ${columns.map(({ of, key }) => cellOf(of, name, key)).join(' | ')} |`,
    ),
  ];
}

/** A value, and its ratio to the base's. */
function cellOf(comparison: Comparison, subject: string, key: string): string {
  const row = rowIn(comparison, subject, key);
  if (row === undefined) return '–';
  const ratio = row.ratio === undefined || subject === comparison.base ? '' : `, ${figure(row.ratio.median)}×`;
  return withSpread(row.value) + ratio;
}
