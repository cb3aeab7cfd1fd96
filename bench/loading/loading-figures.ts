import { block } from '../figures.ts';
import { figure, withSpread } from '../format.ts';
import type { ReleaseResults } from '../release-results.ts';
import { describeMachine, type Results } from '../results.ts';
import { netNote, type Suite } from '../suite.ts';
import { loadingSuites } from './loading-suites.ts';

/** What loading takes on each release, as a Markdown table per suite. */
export function loadingFiguresOf(results: ReleaseResults): string {
  const runs = Object.values(results);
  return block('loading', [
    ...runs.map((run) => `${introduction(run)}<br>`),
    'Medians of the rounds, with the least and the most; × is the median of the ratios of the rounds. Bold: over its target.',
    ...loadingSuites.flatMap((suite) => ['', ...tableOf(suite, runs)]),
  ]);
}

const introduction = ({ command, date, rounds, machine }: Results): string =>
  `\`${command}\`, ${date.slice(0, 10)}, ${rounds} rounds, on ${describeMachine(machine)}`;

function tableOf(suite: Suite, runs: readonly Results[]): string[] {
  const columns = runs.flatMap((run) => suite.figures.map((each) => ({ run, ...each })));
  const heads = columns.map(({ run, title, unit }) =>
    [`${title}, Node ${Number.parseInt(run.machine.node.slice(1), 10)}`, unit].filter((word) => word !== '').join(', '),
  );
  return [
    `**${suite.title}.** ${suite.about}${netNote(suite)}${suite.base === '' ? '' : ` × is of ${suite.base}.`}`,
    '',
    `| | ${heads.join(' | ')} |`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...suite.subjects.map(
      ({ name }) => `| ${name} | ${columns.map(({ run, key }) => cellOf(suite, run, name, key)).join(' | ')} |`,
    ),
  ];
}

/** A value, and its ratio to the base's; what is over its target is bold. */
function cellOf({ name: suite, base }: Suite, run: Results, subject: string, key: string): string {
  const comparison = run.comparisons.find((one) => one.suite === suite);
  if (comparison === undefined) throw new Error(`the run has no "${suite}": take it anew`);
  const row = comparison.rows.find((one) => one.subject === subject && one.figure === key);
  if (row === undefined) return '–';
  const ratio = row.ratio === undefined || subject === base ? '' : `, ${figure(row.ratio.median)}×`;
  const isOver = run.targets.some(
    ({ target, state }) =>
      state === 'NOT MET' && target.suite === suite && target.subject === subject && target.figure === key,
  );
  const text = withSpread(row.value) + ratio;
  return isOver ? `**${text}**` : text;
}
