import { type Comparison, rowIn, subjectsIn } from './comparison.ts';
import { figure, withSpread } from './format.ts';
import { describePeers, type Versions } from './peer-packages.ts';
import { describeMachine, type Results } from './results.ts';

/** The targets of a run as a Markdown table, with the command and the machine, in a block of that name. */
export function figuresOf(results: Results, name = 'figures'): string {
  const rows = results.targets.map(({ target, measured, state }) => {
    const unit = target.unit === '' ? '×' : ` ${target.unit}`;
    const got = measured === undefined ? '–' : withSpread(measured);
    return `| ${target.title} | ${target.of} | ${got} | ${figure(target.most)}${unit} | ${state === 'NOT MET' ? '**not met**' : state} |`;
  });
  return block(name, [
    `\`${results.command}\`, ${results.date.slice(0, 10)}, on ${describeMachine(results.machine)}: medians of`,
    `${results.rounds} interleaved rounds, with the least and the most.`,
    '',
    '| what | of what | measured | target: at most | |',
    '|---|---|---:|---:|---|',
    ...rows,
  ]);
}

/** What every subject of a run came to, a Markdown table per suite. */
export const subjectsOf = (results: Results): string => block('subjects', tablesOf(results));

/** The same of a run that is not the reference run, in a block of that name; it says which it is. */
export function runOf(results: Results, name: string): string {
  return block(name, [`${introductionOf(results)}.`, '', ...tablesOf(results)]);
}

/** By what command, when, in how many rounds and where a run was measured. */
export const introductionOf = (results: Results): string =>
  `\`${results.command}\`, ${results.date.slice(0, 10)}, ${roundsOf(results)}, on ${describeMachine(results.machine)}`;

const tablesOf = ({ comparisons, packages }: Results): string[] =>
  comparisons
    .map((comparison) => tableOf(comparison, packages))
    .join('\n\n')
    .split('\n');

/** The text with a block in place of the one that stood between the same two lines. Throws where it has none. */
export function withBlock(text: string, written: string): string {
  const lines = written.split('\n');
  const [begin, end] = [lines[0], lines[lines.length - 1]];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`no lines "${begin}" and "${end}" to write between`);
  return text.slice(0, from) + written + text.slice(to + end.length);
}

/** Lines between two comments that name them. */
export const block = (name: string, lines: readonly string[]): string =>
  [`<!-- ${name}: written by \`npm run bench:figures\`, from bench/results -->`, ...lines, `<!-- /${name} -->`].join(
    '\n',
  );

/** Of a run's suite the subjects and figures that are named, in a block of that name. */
export function excerptOf(
  results: Results,
  name: string,
  suite: string,
  subjects: readonly string[],
  keys: readonly string[],
): string {
  const comparison = comparisonOf(results, suite);
  const { base } = comparison;
  const rows = comparison.rows.filter(({ subject }) => subjects.includes(subject));
  const figures = comparison.figures.filter(({ key }) => keys.includes(key));
  const shown = { ...comparison, rows, figures };
  return block(name, [
    `Suite \`${suite}\`, ${results.date.slice(0, 10)}, ${roundsOf(results)}, on ${describeMachine(results.machine)}.${withPeers(shown, results.packages)} × is of ${base}.`,
    '',
    ...linesOf(shown),
  ]);
}

/** What a suite came to in a run. Throws where the run has none. */
export function comparisonOf({ comparisons }: Results, suite: string): Comparison {
  const comparison = comparisons.find((one) => one.suite === suite);
  if (comparison === undefined) throw new Error(`the run has no "${suite}": take it anew`);
  return comparison;
}

function tableOf(comparison: Comparison, packages?: Versions): string {
  const { absent = {}, title } = comparison;
  return [
    `### ${title}`,
    '',
    aboutOf(comparison, withPeers(comparison, packages)),
    '',
    ...linesOf(comparison),
    ...Object.entries(absent).flatMap(([name, why]) => ['', `Not measured: ${name}, ${why}.`]),
  ].join('\n');
}

const roundsOf = ({ rounds }: Results): string => (rounds === 1 ? 'one round' : `${rounds} rounds`);

function withPeers(comparison: Comparison, packages?: Versions): string {
  const peers = describePeers(comparison, packages);
  return peers === '' ? '' : ` With ${peers}.`;
}

/** What was measured, with what, and of what the ratios are. */
export function aboutOf({ about, base }: Comparison, peers = ''): string {
  const ratios = base === '' ? '' : ` × is of ${base}.`;
  return about + peers + ratios;
}

function linesOf(comparison: Comparison): string[] {
  const { base, figures } = comparison;
  const heads = figures.map(({ title, unit }) => (unit === '' ? title : `${title}, ${unit}`));
  const cell = (subject: string, key: string): string => {
    const row = rowIn(comparison, subject, key);
    if (row === undefined) return '–';
    const ratio = row.ratio === undefined || subject === base ? '' : `, ${figure(row.ratio.median)}×`;
    return withSpread(row.value) + ratio;
  };
  return [
    `| | ${heads.join(' | ')} |`,
    `|---|${figures.map(() => '---:|').join('')}`,
    ...subjectsIn(comparison).map((name) => `| ${name} | ${figures.map(({ key }) => cell(name, key)).join(' | ')} |`),
  ];
}
