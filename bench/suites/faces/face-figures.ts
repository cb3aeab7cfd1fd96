import { type Comparison, type Row, rowIn } from '../../engine/comparison.ts';
import { block, introductionOf } from '../../engine/figures.ts';
import { figure } from '../../engine/format.ts';
import type { ReleaseResults, Results } from '../../engine/results.ts';
import { NODE, OURS, REGISTERED } from './face.ts';
import { operations } from './live-suites.ts';
import { MEMORY } from './memory-suite.ts';
import { INTERVAL, WAITS, waits } from './wait-suite.ts';

type Column = readonly [title: string, cell: (run: Results, suite: string, subject?: string) => string];

const ratioColumn = (title: string, key: string): Column => [
  title,
  (run, suite, subject) => comparedCell(run, suite, key, subject),
];

const liveColumns: readonly Column[] = [
  ...operations.map(
    (operation): Column => [`${operation}, ns`, (run, suite, subject) => timedCell(run, suite, operation, subject)],
  ),
  ratioColumn('clear + set: CPU of all threads, ns', 'clear + set, process'),
  ratioColumn('heap each, bytes', 'heap'),
  ['clear + set: GC pauses, their ms, the longest', pausesCell],
];

const otherColumns: readonly Column[] = [
  ...waits.map((wait): Column => [`${wait}, ns`, (run) => timedCell(run, WAITS, wait)]),
  [`${INTERVAL}, ns of CPU per call`, (run) => comparedCell(run, WAITS, `${INTERVAL}, thread`)],
  ['resident memory each, bytes', (run) => comparedCell(run, MEMORY, 'resident')],
];

/** The drop-in timers beside Node's on each release, as Markdown tables. */
export function faceFiguresOf(results: ReleaseResults): string {
  const runs = Object.values(results);
  const live = runs.flatMap((run) => [
    ...header(`Node ${run.machine.node.slice(1)}: live, durations`, liveColumns),
    ...run.comparisons.filter(isLive).flatMap((comparison) => {
      const title = comparison.title.replace(/^.*: (\S+) live, (\w+) .*$/, '$1, $2');
      const own = line(title, liveColumns, run, comparison.suite);
      const isRegistered = rowIn(comparison, REGISTERED, operations[0]) !== undefined;
      return isRegistered ? [own, line(`${title}, registered`, liveColumns, run, comparison.suite, REGISTERED)] : [own];
    }),
    '',
  ]);
  return block('faces', [
    ...runs.map((run) => `${introductionOf(run)}<br>`),
    'shardwheel/timers / node:timers by the clock, and the median of the ratios of the rounds, with the least and the most; CPU: the',
    "ratio of the CPU of the event loop's thread, which is steadier where others use the machine.",
    '',
    ...live,
    ...header('1,000 live; memory: 500,000', otherColumns),
    ...runs.map((run) => line(`Node ${run.machine.node.slice(1)}`, otherColumns, run, '')),
  ]);
}

const header = (title: string, columns: readonly Column[]): string[] => [
  `| ${[title, ...columns.map(([name]) => name)].join(' | ')} |`,
  `|---|${columns.map(() => '---:|').join('')}`,
];

const line = (title: string, columns: readonly Column[], run: Results, suite: string, subject?: string): string =>
  `| ${[title, ...columns.map(([, cell]) => cell(run, suite, subject))].join(' | ')} |`;

/** Both, and the ratio. */
function comparedCell(run: Results, suite: string, key: string, subject = OURS): string {
  const [ours, nodes] = [rowOf(run, suite, subject, key), rowOf(run, suite, NODE, key)];
  if (ours?.ratio === undefined || nodes === undefined) return '–';
  const { median, least, most } = ours.ratio;
  const spread = least === most ? '' : ` (${figure(least)}–${figure(most)})`;
  return `${figure(ours.value.median)} / ${figure(nodes.value.median)}: ${figure(median)}×${spread}`;
}

/**
 * Of an operation: by the clock, and the ratio by CPU of the event loop's thread, which what else runs disturbs less.
 */
function timedCell(run: Results, suite: string, operation: string, subject = OURS): string {
  const cpu = rowOf(run, suite, subject, `${operation}, thread`)?.ratio;
  return `${comparedCell(run, suite, operation, subject)}, CPU ${cpu === undefined ? '–' : figure(cpu.median)}×`;
}

function pausesCell(run: Results, suite: string, subject = OURS): string {
  const cells = [subject, NODE].map((subject) => {
    const [count, ...times] = ['collections', 'paused', 'pause'].map(
      (key) => rowOf(run, suite, subject, key)?.value.median,
    );
    return [count ?? '–', ...times.map((ms) => (ms === undefined ? '–' : figure(ms)))].join(', ');
  });
  return cells.join(' / ');
}

const isLive = ({ rows }: Comparison): boolean => rows.some(({ figure }) => figure === operations[0]);

function rowOf({ comparisons }: Results, suite: string, subject: string, key: string): Row | undefined {
  const comparison = comparisons.find((one) => one.suite === suite);
  return comparison === undefined ? undefined : rowIn(comparison, subject, key);
}
