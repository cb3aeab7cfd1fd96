import { rowIn } from '../../engine/comparison.ts';
import { block, comparisonOf } from '../../engine/figures.ts';
import { figure } from '../../engine/format.ts';
import { describeMachine, type Results } from '../../engine/results.ts';
import { DROP_IN, INLINE, NODE, SHARD } from './rate-subjects.ts';
import { rateSuiteName } from './rate-suites.ts';
import type { RateTask } from './rate-task.ts';

/** What is shown, and the end of the figures' keys. */
const shown: readonly (readonly [load: RateTask['load'], rate: number, title: string, stretch: string])[] = [
  ['fires', 1000, 'timers a second that fire', ', warm'],
  ['fires', 100_000, 'timers a second that fire', ', warm'],
  ['replay', 1000, 'connections a second of a proxy', ''],
  ['replay', 20_000, 'connections a second of a proxy', ''],
  ['replay', 100_000, 'connections a second of a proxy', ''],
];

const subjects = [NODE, INLINE, SHARD, DROP_IN];

/** How late half of the timers, and 99 of 100, come at some rates, as a Markdown table. */
export function rateLatenessOf(results: Results): string {
  const { date, rounds, machine } = results;
  return block('lateness', [
    `Half of the timers / 99 of 100 come within so many ms. Medians of ${rounds} rounds, ${date.slice(0, 10)}, on ${describeMachine(machine)}.`,
    '',
    `| | ${subjects.join(' | ')} |`,
    `|---|${subjects.map(() => '---:|').join('')}`,
    ...shown.map(([load, rate, title, stretch]) => {
      const comparison = comparisonOf(results, rateSuiteName(load, rate));
      const cells = subjects.map((subject) =>
        ['p50', 'p99']
          .map((key) => rowIn(comparison, subject, `${key}${stretch}`)?.value.median ?? Number.NaN)
          .map(figure)
          .join(' / '),
      );
      const what = `${rate.toLocaleString('en-US')} ${title}`;
      return `| ${[what, ...cells].join(' | ')} |`;
    }),
  ]);
}
