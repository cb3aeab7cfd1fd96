import Table from 'cli-table3';
import { count, mebibytes, milliseconds } from './format.ts';
import { type ReplayResult, subjectTitles } from './replay-result.ts';
import { type Cost, operationsOf, type Summary } from './summary.ts';

type Column = ReplayResult & { readonly cost?: Cost };

/** A line of the table: how to read the value, how to show it, and whether a ratio says something. */
interface Row {
  readonly title: string;
  readonly value: (column: Column) => number | undefined;
  readonly show: (value: number) => string;
  readonly ratio?: boolean;
  /** Says nothing about the driver alone. */
  readonly timersOnly?: boolean;
}

const whole = (value: number) => count(value);

const rows: readonly Row[] = [
  { title: 'connections', value: (run) => run.connections, show: whole },
  { title: 'connections per second reached', value: (run) => run.reached, show: whole },
  { title: 'timer operations (arm, move, cancel)', value: operationsOf, show: whole },
  { title: 'timer operations per second', value: (run) => operationsOf(run) / run.seconds, show: whole },
  { title: 'timers live at the peak', value: (run) => run.peakLive, show: whole },
  { title: 'fired', value: (run) => run.verdict.fired, show: whole, timersOnly: true },
  { title: 'handed back at the end', value: (run) => run.verdict.handedBack, show: whole, timersOnly: true },
  ...(
    [
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p99.9', 'p999'],
      ['max', 'max'],
    ] as const
  ).map(
    ([name, key]): Row => ({
      title: `lateness ${name}, ms ¹`,
      value: (run) => run.verdict.lateness[key],
      show: milliseconds,
      ratio: true,
    }),
  ),
  {
    title: 'of it in the first 2 s, ms',
    value: (run) => run.verdict.latestAtStart,
    show: milliseconds,
  },
  { title: 'early', value: (run) => run.verdict.early, show: whole, timersOnly: true },
  { title: 'earliest by, ms', value: (run) => run.verdict.earliest, show: milliseconds, timersOnly: true },
  { title: 'lost', value: (run) => run.verdict.lost, show: whole, timersOnly: true },
  { title: 'doubled', value: (run) => run.verdict.doubled, show: whole, timersOnly: true },
  { title: 'refused a live timer', value: (run) => run.verdict.refused, show: whole, timersOnly: true },
  { title: 'ran in a wrong context', value: (run) => run.strayed, show: whole, timersOnly: true },
  { title: 'event-loop thread CPU, ms', value: (run) => run.cpu.thread, show: whole, ratio: true },
  { title: '  of it on timers ²', value: (run) => run.cost?.threadCpu, show: whole, ratio: true },
  { title: '  ns per timer operation', value: (run) => run.cost?.perOperation, show: whole, ratio: true },
  { title: 'whole process CPU, ms', value: (run) => run.cpu.process, show: whole, ratio: true },
  { title: 'event-loop thread waiting for a CPU, ms', value: (run) => run.cpu.waiting, show: whole },
  { title: 'longest event-loop block, ms', value: (run) => run.longestBlock, show: milliseconds, ratio: true },
  { title: 'memory per live timer, bytes ³', value: (run) => run.cost?.perLiveTimer, show: whole, ratio: true },
  { title: 'memory at rest, MiB ⁴', value: (run) => run.memory.rest - run.memory.before, show: mebibytes },
];

const notes = `¹ Of the driver alone: that of its own steps, which it looks for in every turn of the loop. So much the loop itself takes.
² CPU of this run less that of the driver alone, which performs the same steps without timers.
³ Growth of resident memory from rest to the peak, less the driver's own growth, per timer live then.
⁴ What creating the subject took before the first timer: threads and tables.`;

/** The end table, with what there is to say about it. */
export function renderReport(summary: Summary): string {
  const { driver, shardwheel, native, options, machine, remarks, correct } = summary;
  const table = new Table({
    head: [
      '',
      subjectTitles.shardwheel,
      ...(native ? [subjectTitles.native, 'node ÷ shardwheel'] : []),
      subjectTitles.driver,
    ],
    colAligns: ['left', 'right', ...(native ? (['right', 'right'] as const) : []), 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    const cells = [row.title, cell(row, shardwheel)];
    if (native) cells.push(cell(row, native), row.ratio ? ratio(row.value(native), row.value(shardwheel)) : '');
    cells.push(row.timersOnly ? '–' : cell(row, driver));
    table.push(cells);
  }
  const { verdict } = shardwheel;
  const sentence = `${verdict.early} early, ${verdict.lost} lost, ${verdict.doubled} doubled, ${verdict.refused} refused of ${count(shardwheel.armed)} timers at ${count(shardwheel.reached)} connections per second`;
  return [
    `Node ${machine.node}, ${machine.cpus} × ${machine.model}; shards: ${options.shards}${servedBy(shardwheel.own)}${onLoops(options.threads)}; seed ${options.seed}`,
    table.toString(),
    notes,
    ...remarks.map((remark) => `! ${remark}`),
    `${correct ? 'ok' : 'FAILED'}: ${sentence}.`,
  ].join('\n');
}

/** Who served the shards when the run ended. */
function servedBy(own: unknown): string {
  const { serving } = (own ?? {}) as { serving?: { by: string } };
  return serving === undefined ? '' : ` (${serving.by})`;
}

function onLoops(threads: number): string {
  return threads === 1 ? '' : `; ${threads} event loops, CPU and counts of all, the longest of their blocks`;
}

function cell(row: Row, column: Column): string {
  const value = row.value(column);
  return value === undefined || !Number.isFinite(value) ? '–' : row.show(value);
}

function ratio(native: number | undefined, shardwheel: number | undefined): string {
  if (native === undefined || shardwheel === undefined || !(native > 0) || !(shardwheel > 0)) return '–';
  return (native / shardwheel).toFixed(2);
}
