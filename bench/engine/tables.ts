import Table from 'cli-table3';
import type { Verdict } from '../targets.ts';
import { type Comparison, type Row, rowIn, withAbsent } from './comparison.ts';
import { figure, withSpread } from './format.ts';
import type { Suite } from './suite.ts';

/** Figures that fit beside each other. Where there are more, they stand below each other, and the subjects beside. */
const BESIDE = 10;

const plain = { head: [], border: [], compact: true };

/** A suite's results: each figure with its spread, and how many times the base's it is. */
export function suiteTable(suite: Suite, comparison: Comparison): string {
  const subjects = withAbsent(suite, comparison);
  const present = subjects.filter(({ absent }) => absent === undefined);
  const corner = suite.base === '' ? 'subject' : `× = ${suite.base}`;
  const lines = [
    [corner, ...suite.figures.map(({ title, unit }) => `${title}\n${unit}`)],
    ...present.map(({ name }) => [name, ...suite.figures.map(({ key }) => cell(rowIn(comparison, name, key)))]),
  ];
  const [head, ...rest] = suite.figures.length > BESIDE ? turned(lines) : lines;
  const table = new Table({ head, style: plain, colAligns: ['left', ...head.slice(1).map(() => 'right' as const)] });
  table.push(...rest);
  const notes = subjects.flatMap(({ name, note, absent }) => {
    if (absent !== undefined) return [`  ${name}: not measured, ${absent}`];
    return note === undefined ? [] : [`  ${name}: ${note}`];
  });
  return [`\n${suite.title} [${suite.name}]`, `  ${comparison.about}`, table.toString(), ...notes].join('\n');
}

const turned = (lines: readonly string[][]): string[][] =>
  lines[0].map((_, at) => lines.map((line, index) => (index === 0 ? line[at].replace('\n', ', ') : line[at])));

function cell(row: Row | undefined): string {
  if (row === undefined) return '–';
  const ratio = row.ratio === undefined ? '' : `\n× ${withSpread(row.ratio)}`;
  return withSpread(row.value) + ratio;
}

export function targetsTable(verdicts: readonly Verdict[]): string {
  const table = new Table({
    head: ['target', 'at most', 'measured, with spread', 'of', ''],
    style: plain,
    colAligns: ['left', 'right', 'right', 'left', 'left'],
  });
  for (const { target, measured, state } of verdicts) {
    table.push([
      target.title,
      figure(target.most) + (target.unit === '' ? '×' : ` ${target.unit}`),
      measured === undefined ? '–' : withSpread(measured),
      target.of,
      state,
    ]);
  }
  return `\nTargets\n${table.toString()}`;
}
