import Table, { type Cell } from 'cli-table3';
import { count, mebibytes, milliseconds } from './format.ts';
import { type ReplayColumn, replayColumns, titleOf } from './replay-columns.ts';
import type { ReplayResult } from './replay-result.ts';
import { type Cost, operationsOf, type Summary } from './summary.ts';

type Run = ReplayResult & { readonly cost?: Cost };

/** A line of the table: how to read the value, how to show it, and whether a ratio to Node's timers says something. */
interface Row {
  readonly title: string;
  readonly value: (run: Run) => number | undefined;
  readonly show: (value: number) => string;
  readonly ratio?: boolean;
  /** Says nothing about the driver alone. */
  readonly timersOnly?: boolean;
}

const late = (title: string, key: 'p50' | 'p99' | 'p999' | 'max'): Row => {
  return { title, value: (run) => run.verdict.lateness[key], show: milliseconds, ratio: true };
};

/** Rows under their headings. */
const groups: readonly (readonly [heading: string, rows: readonly Row[]])[] = [
  [
    'What timers cost',
    [
      { title: 'event-loop CPU per operation, ns ¹', value: (run) => run.cost?.perOperation, show: count, ratio: true },
      { title: 'process CPU per operation, ns ¹', value: processPerOperation, show: count, ratio: true },
      { title: 'bytes per live timer ²', value: (run) => run.cost?.perLiveTimer, show: count, ratio: true },
      { title: 'longest event-loop block, ms', value: (run) => run.longestBlock, show: milliseconds, ratio: true },
      { title: 'wakes of all threads per second', value: wakesPerSecond, show: count },
    ],
  ],
  [
    'How late they are, in ms ³',
    [
      late('p50', 'p50'),
      late('p99', 'p99'),
      late('p99.9', 'p999'),
      late('most', 'max'),
      { title: 'most in the first 2 s', value: (run) => run.verdict.latestAtStart, show: milliseconds },
    ],
  ],
  [
    'What became of them',
    [
      { title: 'early', value: (run) => run.verdict.early, show: count, timersOnly: true },
      { title: 'earliest by, ms', value: (run) => run.verdict.earliest, show: milliseconds, timersOnly: true },
      { title: 'lost', value: (run) => run.verdict.lost, show: count, timersOnly: true },
      { title: 'doubled', value: (run) => run.verdict.doubled, show: count, timersOnly: true },
      { title: 'refused a live timer', value: (run) => run.verdict.refused, show: count, timersOnly: true },
      { title: 'ran in a wrong context', value: (run) => run.strayed, show: count, timersOnly: true },
      { title: 'fired', value: (run) => run.verdict.fired, show: count, timersOnly: true },
      { title: 'handed back at the end', value: (run) => run.verdict.handedBack, show: count, timersOnly: true },
    ],
  ],
  [
    'What was done, the driver included',
    [
      { title: 'connections per second reached', value: (run) => run.reached, show: count },
      { title: 'timer operations per second ⁴', value: (run) => operationsOf(run) / run.seconds, show: count },
      { title: 'timer operations', value: operationsOf, show: count },
      { title: 'timers live at the peak', value: (run) => run.peakLive, show: count },
      { title: 'event-loop CPU, ms', value: (run) => run.cpu.thread, show: count },
      { title: 'process CPU, ms', value: (run) => run.cpu.process, show: count },
      { title: 'event loop waiting for a CPU, ms', value: (run) => run.cpu.waiting, show: count },
      { title: 'memory at rest, MiB ⁵', value: (run) => run.memory.rest - run.memory.before, show: mebibytes },
    ],
  ],
];

const notes = `¹ Less that of the driver alone, which performs the same steps without timers.
² Growth of resident memory from rest to the peak, less the driver's own growth, per timer live then.
³ Of the driver alone: its own steps, which it looks for in every turn of the loop. So much the loop itself takes.
⁴ To arm, to move, to cancel.
⁵ What creating the subject took before the first timer: threads and tables.`;

const ofSeveral = 'Of several event loops: CPU and counts of all together, the longest of their blocks.';

/** The end table, with what there is to say about it. */
export function renderReport(summary: Summary): string {
  const { options, machine, remarks, native } = summary;
  const columns = replayColumns(options);
  const table = new Table({
    head: ['', ...columns.map(({ head }) => head.join('\n'))],
    colAligns: ['left', ...columns.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const [heading, rows] of groups) {
    table.push([{ content: heading, colSpan: columns.length + 1 }]);
    for (const row of rows) {
      const cells: Cell[] = columns.map((column) => cell(row, column, summary[column.name]!, native));
      table.push([`  ${row.title}`, ...cells]);
    }
  }
  const asked = `${count(options.cps)} connections per second for ${options.seconds} s`;
  return [
    `Node ${machine.node}, ${machine.cpus} × ${machine.model}; ${asked}${onLoops(options.threads)}${servedBy(summary)}; seed ${options.seed}`,
    table.toString(),
    ...(native ? ['×: of node:timers.'] : []),
    notes,
    ...(Math.max(options.threads, options.loops) > 1 ? [ofSeveral] : []),
    ...remarks.map((remark) => `! ${remark}`),
    ...columns.filter(({ subject }) => subject === 'shardwheel').map((column) => verdictOf(column, summary)),
  ].join('\n');
}

function processPerOperation({ cost }: Run): number | undefined {
  return cost && (cost.processCpu * 1e6) / cost.operations;
}

/** Undefined where the system does not count them: no loop of a replay never sleeps. */
function wakesPerSecond({ wakes, seconds }: Run): number | undefined {
  return wakes === 0 ? undefined : wakes / seconds;
}

function cell(row: Row, { subject }: ReplayColumn, run: Run, native: Run | undefined): string {
  if (row.timersOnly && subject === 'driver') return '–';
  const value = row.value(run);
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (!row.ratio || subject !== 'shardwheel') return row.show(value);
  const base = native && row.value(native);
  return base !== undefined && base > 0 && value > 0
    ? `${row.show(value)} ${(value / base).toFixed(2)}×`
    : row.show(value);
}

function verdictOf(column: ReplayColumn, summary: Summary): string {
  const { armed, reached, verdict } = summary[column.name]!;
  const { early, lost, doubled, refused } = verdict;
  const ended = `${early} early, ${lost} lost, ${doubled} doubled, ${refused} refused of ${count(armed)} timers`;
  const word = summary.wrong.includes(column.name) ? 'FAILED' : 'ok';
  return `${word}: ${titleOf(column)}: ${ended} at ${count(reached)} connections per second.`;
}

/** Who served the shards in the end, where that was to be seen. */
function servedBy({ options, shards }: Summary): string {
  if (options.shards !== 'auto') return '';
  const { serving } = (shards?.own ?? {}) as { serving?: { by: string } };
  return serving === undefined ? '' : `; shards: auto (${serving.by})`;
}

function onLoops(threads: number): string {
  return threads === 1 ? '' : `; ${threads} event loops`;
}
