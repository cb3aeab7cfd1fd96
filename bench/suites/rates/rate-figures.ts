import { type Comparison, rowIn, subjectsIn } from '../../engine/comparison.ts';
import { block, comparisonOf, introductionOf } from '../../engine/figures.ts';
import { figure, withSpread } from '../../engine/format.ts';
import type { ReleaseResults, Results } from '../../engine/results.ts';
import { nodeRatio } from './node-ratio.ts';
import { DRIVER, NODE, rateSubjects } from './rate-subjects.ts';
import { type RatedLoad, ratedLoads, rateSuiteName } from './rate-suites.ts';

/** A load at each of its rates. */
const comparisonsOf = (results: Results, { load, rates }: RatedLoad): [rate: string, comparison: Comparison][] =>
  rates.map((rate) => [rate.toLocaleString('en-US'), comparisonOf(results, rateSuiteName(load, rate))]);

/** Of an operation the event-loop CPU, beside Node's, at each rate. */
export function rateSummaryOf(results: Results): string {
  const compared = rateSubjects.map(({ name }) => name).filter((name) => name !== DRIVER && name !== NODE);
  const rows = ratedLoads.flatMap((rated) =>
    rated.figures
      .filter(({ key }) => /^(loop|whole)/.test(key))
      .flatMap(({ key }) =>
        comparisonsOf(results, rated).map(([rate, comparison]) => {
          const stretch = key === 'whole' ? 'the driver included' : key.split(', ')[1];
          const load = `${rate} ${rated.title}`;
          const what = stretch === undefined ? load : `${load}, ${stretch}`;
          const cells = [NODE, ...compared].map((subject) => summaryCell(comparison, subject, key));
          return `| ${[what, ...cells].join(' | ')} |`;
        }),
      ),
  );
  return block('rates', [
    `${introductionOf(results)}. × is of ${NODE}; where their own share is lost in the noise, ns stand alone.`,
    '',
    `| event-loop CPU of each | ${[NODE, ...compared].join(' | ')} |`,
    `|---|${['', ...compared].map(() => '---:|').join('')}`,
    ...rows,
  ]);
}

function summaryCell(comparison: Comparison, subject: string, key: string): string {
  const ratio = subject === NODE ? undefined : nodeRatio(comparison, subject, key);
  if (ratio !== undefined) return `${withSpread(ratio)}×`;
  const row = rowIn(comparison, subject, key);
  return row === undefined ? '–' : `${withSpread(row.value)} ns`;
}

/** All that was measured, on each release of Node. */
export function rateFiguresOf(releases: ReleaseResults): string {
  const abouts = ratedLoads.map(({ title, about }) => `- **${title}**: ${about}`);
  return block('rate-figures', [
    `The driver's own share is taken off CPU and wakes. × is of ${NODE}.`,
    '',
    ...abouts.map((about) => about.replace('- **', '- **So many ')),
    ...Object.values(releases).flatMap((results) => [
      '',
      `${introductionOf(results)}:`,
      ...ratedLoads.flatMap((rated) => ['', ...tableOf(results, rated)]),
    ]),
  ]);
}

function tableOf(results: Results, rated: RatedLoad): string[] {
  const { figures, title } = rated;
  const titles = figures.map((one) => `${one.title}, ${one.unit}`);
  return [
    `| ${[title, 'with', ...titles].join(' | ')} |`,
    `|---:|---|${figures.map(() => '---:|').join('')}`,
    ...comparisonsOf(results, rated).flatMap(([rate, comparison]) =>
      subjectsIn(comparison).map((subject, at) => {
        const cells = figures.map(({ key, unit }) => {
          const row = rowIn(comparison, subject, key);
          if (row === undefined) return '–';
          const isCompared = unit === 'ns each' && subject !== NODE;
          const ratio = isCompared ? nodeRatio(comparison, subject, key) : undefined;
          return withSpread(row.value) + (ratio === undefined ? '' : `, ${figure(ratio.median)}×`);
        });
        return `| ${[at === 0 ? rate : '', subject, ...cells].join(' | ')} |`;
      }),
    ),
  ];
}
