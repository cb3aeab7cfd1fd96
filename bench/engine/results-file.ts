import { judge } from '../targets.ts';
import type { Comparison, Row } from './comparison.ts';
import type { ReleaseResults, Results } from './results.ts';
import type { Spread } from './statistics.ts';

/**
 * Results as a file holds them, so that a change of one shows as a change of one line: JSON with a line for each
 * subject of a suite.
 *
 *     "suite": …, "figures": …, "subjects": {
 *     "node:timers": { "W1": { "value": [median, least, most], "ratio": …, "others": { "default": … } }, … },
 *
 * A spread of one value is a number. What is judged is not kept: the targets of today judge whatever is read.
 */
type Stored = number | readonly [median: number, least: number, most: number];

interface StoredRow {
  readonly value: Stored;
  readonly ratio?: Stored;
  readonly others?: Readonly<Record<string, Stored>>;
}

type StoredComparison = Omit<Comparison, 'rows'> & {
  readonly subjects: Readonly<Record<string, Readonly<Record<string, StoredRow>>>>;
};

type StoredResults = Omit<Results, 'comparisons' | 'targets'> & { readonly comparisons: readonly StoredComparison[] };

export const resultsText = (results: Results): string => `${textOf(results)}\n`;

export function releasesText(results: ReleaseResults): string {
  const parts = Object.entries(results).map(([release, each]) => `"${release}":${textOf(each)}`);
  return `{${parts.join(',\n')}}\n`;
}

export const readResults = (text: string): Results => restored(JSON.parse(text));

export function readReleases(text: string): ReleaseResults {
  const stored: Readonly<Record<string, StoredResults>> = JSON.parse(text);
  return Object.fromEntries(Object.entries(stored).map(([release, each]) => [release, restored(each)]));
}

function textOf({ comparisons, targets: _judgedWhenRead, ...head }: Results): string {
  const lines = [...Object.entries(head).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)];
  return `{\n${lines.join(',\n')},\n"comparisons":[\n${comparisons.map(comparisonText).join(',\n')}\n]}`;
}

function comparisonText({ rows, ...head }: Comparison): string {
  const subjects = new Map<string, Record<string, StoredRow>>();
  for (const row of rows) {
    const figures = subjects.get(row.subject) ?? {};
    figures[row.figure] = storedRow(row);
    subjects.set(row.subject, figures);
  }
  const lines = [...subjects].map(([subject, figures]) => `${JSON.stringify(subject)}:${JSON.stringify(figures)}`);
  return `${JSON.stringify(head).slice(0, -1)},"subjects":{\n${lines.join(',\n')}}}`;
}

const storedRow = ({ value, ratio, otherRatios }: Row): StoredRow => ({
  value: stored(value),
  ...(ratio !== undefined && { ratio: stored(ratio) }),
  ...(otherRatios !== undefined && {
    others: Object.fromEntries(Object.entries(otherRatios).map(([base, each]) => [base, stored(each)])),
  }),
});

const stored = ({ median, least, most }: Spread): Stored => (least === most ? median : [median, least, most]);

const spread = (of: Stored): Spread => {
  const [median, least, most] = typeof of === 'number' ? [of, of, of] : of;
  return { median, least, most };
};

function restored({ comparisons, ...head }: StoredResults): Results {
  const read = comparisons.map(
    ({ subjects, ...of }): Comparison => ({
      ...of,
      rows: Object.entries(subjects).flatMap(([subject, figures]) =>
        Object.entries(figures).map(([figure, row]) => restoredRow(subject, figure, row)),
      ),
    }),
  );
  return { ...head, comparisons: read, targets: judge(read) };
}

const restoredRow = (subject: string, figure: string, { value, ratio, others }: StoredRow): Row => ({
  subject,
  figure,
  value: spread(value),
  ratio: ratio === undefined ? undefined : spread(ratio),
  ...(others !== undefined && {
    otherRatios: Object.fromEntries(Object.entries(others).map(([base, each]) => [base, spread(each)])),
  }),
});
