import Table from 'cli-table3';
import type { Comparison, Row } from './comparison.ts';
import { figure, withSpread } from './format.ts';
import { netNote, type Suite } from './suite.ts';
import type { Verdict } from './targets.ts';

const plain = { head: [], border: [], compact: true };

/** A suite's results: each figure with its spread, and how many times the base's it is. */
export function suiteTable(suite: Suite, comparison: Comparison): string {
  const find = (subject: string, key: string) =>
    comparison.rows.find((row) => row.subject === subject && row.figure === key);
  const table = new Table({
    head: [
      suite.base === '' ? 'subject' : `× = ${suite.base}`,
      ...suite.figures.map(({ title, unit }) => `${title}\n${unit}`),
    ],
    style: plain,
    colAligns: ['left', ...suite.figures.map(() => 'right' as const)],
  });
  const notes: string[] = [];
  for (const { name, note, absent } of suite.subjects) {
    if (absent !== undefined) {
      notes.push(`  ${name}: not measured, ${absent}`);
      continue;
    }
    table.push([name, ...suite.figures.map(({ key }) => cell(find(name, key)))]);
    if (note !== undefined) notes.push(`  ${name}: ${note}`);
  }
  return [`\n${suite.title} [${suite.name}]`, `  ${suite.about}${netNote(suite)}`, table.toString(), ...notes].join(
    '\n',
  );
}

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
  return `\nMarks\n${table.toString()}`;
}
