import Table from 'cli-table3';
import type { LatenessView, Sample } from '../../src/dashboard/messages.ts';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const count = (value: number): string => whole.format(value);
const rate = (value: number | undefined): string => (value === undefined ? '–' : `${count(value)}/s`);
const milliseconds = (value: number): string => `${Number(value.toPrecision(3))} ms`;
const mebibytes = (bytes: number): string => `${count(bytes / 2 ** 20)} MiB`;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Names and reasons come from the program, and may contain control characters for a terminal. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\ufffd');

/** What a wheel's level holds, in eight steps. */
const steps = ' ▁▂▃▄▅▆▇█';
/** Characters to a level's turn. */
const COLUMNS = 64;

/** One line: for logs, and where no screen can be redrawn. */
export function lineOf({ at, cpu, lateness, memory, rates, size }: Sample): string {
  const { now, run } = lateness;
  const late = now === undefined || now.count === 0 ? '–' : milliseconds(now.p99);
  return [
    new Date(at).toISOString(),
    `${count(size)} live`,
    `scheduled ${rate(rates?.scheduled)}`,
    `moved ${rate(rates?.moved)}`,
    `cancelled ${rate(rates?.cancelled)}`,
    `delivered ${rate(rates?.delivered)}`,
    `99 % within ${late} now, ${milliseconds(run.p99)} over the run`,
    `${mebibytes(memory.resident)}`,
    `loop ${cpu === undefined ? '–' : percent(cpu.loop)}`,
  ].join(' | ');
}

/** Everything as tables, for a terminal. */
export function screenOf(sample: Sample): string {
  const parts = [
    countsTable(sample),
    latenessTable(sample),
    shardsTable(sample),
    ...wheelsOf(sample),
    lanesTable(sample),
  ];
  if (sample.clients.length > 0) parts.push(clientsTable(sample));
  if (sample.labels.length > 0) parts.push(labelsTable(sample));
  const { by, reason } = sample.serving;
  const warnings = [
    ...sample.warnings,
    ...sample.restarted.map(({ shard, cause }) => `Shard ${shard} was restarted: ${cause}`),
  ];
  const served = `Served ${by === 'inline' ? 'inline' : 'by threads'}: ${reason}`;
  return [...parts, ...[served, ...warnings].map(printable)].join('\n');
}

type Row = readonly string[];

/** The first column and those named are words, the others numbers. */
function tableOf(head: Row, rows: readonly Row[]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, at) => (at === 0 ? 'left' : 'right')),
  });
  for (const row of rows) table.push(row.map(printable));
  return table.toString();
}

const countsTable = ({ counts, cpu, memory, rates, size }: Sample): string =>
  tableOf(
    ['', 'live', 'scheduled', 'moved', 'cancelled', 'delivered', 'resident', 'loop', 'process'],
    [
      [
        'now',
        count(size),
        rate(rates?.scheduled),
        rate(rates?.moved),
        rate(rates?.cancelled),
        rate(rates?.delivered),
        mebibytes(memory.resident),
        cpu === undefined ? '–' : percent(cpu.loop),
        cpu === undefined ? '–' : percent(cpu.process),
      ],
      [
        'in all',
        '',
        count(counts.scheduled),
        count(counts.moved),
        count(counts.cancelled),
        count(counts.delivered),
        '',
        '',
        '',
      ],
    ],
  );

function latenessTable({ lateness: { now, run, seconds } }: Sample): string {
  const row = (name: string, view: LatenessView | undefined): Row =>
    view === undefined || view.count === 0
      ? [name, '0', '–', '–', '–', '–', '–']
      : [name, count(view.count), ...[view.mean, view.p50, view.p90, view.p99, view.max].map(milliseconds)];
  return tableOf(
    ['lateness', 'deliveries', 'mean', '50 % within', '90 %', '99 %', 'latest'],
    [row(`last ${Math.round(seconds)} s`, now), row('the run', run)],
  );
}

const shardsTable = ({ shards }: Sample): string =>
  tableOf(
    ['shard', 'served', 'live', 'filed', 'commands', 'fired', 'cascaded', 'turns', 'memory', 'restarts'],
    shards.map((shard) => [
      `${shard.shard}`,
      shard.inline ? 'inline' : 'thread',
      count(shard.size),
      count(shard.filed),
      rate(shard.commands),
      rate(shard.fired),
      rate(shard.cascaded),
      rate(shard.turns),
      mebibytes(shard.bytes),
      count(shard.restarts),
    ]),
  );

/** In the largest suitable unit. */
function spanOf(time: number): string {
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['s', 1000],
  ];
  const [unit, size] = units.find(([, size]) => time >= size) ?? ['ms', 1];
  return `${Number((time / size).toPrecision(3))} ${unit}`;
}

/** By the logarithm, as the page's shades. */
function stepOf(held: number, most: number): number {
  if (held === 0) return 0;
  return most === 1 ? 8 : 1 + Math.round((Math.log(held) / Math.log(most)) * 7);
}

/** The levels of each wheel that hold something: a turn from its slot 0 on, the hand beneath. */
function wheelsOf({ shards }: Sample): string[] {
  return shards.flatMap(({ shard, levels }) =>
    levels
      .map((level, number) => ({ number, ...level }))
      .filter(({ entries, slots }) => slots > 1 && entries > 0)
      .flatMap(({ arcs, entries, filled, hand, slotTime, slots, number }) => {
        const columns = new Array<number>(Math.min(COLUMNS, arcs)).fill(0);
        for (let at = 0; at < filled.length; at += 2) {
          columns[Math.floor((filled[at] * columns.length) / arcs)] += filled[at + 1];
        }
        const bars = columns.map((held) => steps[stepOf(held, Math.max(...columns))]);
        const name = `wheel ${shard}, level ${number}`.padEnd(18);
        const turn = `${spanOf(slotTime)} a slot`.padStart(18);
        return [
          `${name}|${bars.join('')}|${turn}, ${count(entries)} entries`,
          `${' '.repeat(19 + Math.floor((hand * columns.length) / slots))}^`,
        ];
      }),
  );
}

const lanesTable = ({ lanes }: Sample): string =>
  tableOf(
    ['lane of client', 'shard', 'filed', 'commands waiting', 'late', 'fired, not taken'],
    lanes.map(({ client, shard, filed, commands, late, fired }) => [
      client === 0 ? 'owner' : `${client}`,
      `${shard}`,
      ...[filed, commands, late, fired].map(count),
    ]),
  );

const clientsTable = ({ clients }: Sample): string =>
  tableOf(
    ['client', 'thread', 'live', 'scheduled', 'cancelled', 'delivered', '99 % within'],
    clients.map(({ client, thread, size, scheduled, cancelled, delivered, p99 }) => [
      client === 0 ? 'owner' : `${client}`,
      `${thread}`,
      ...[size, scheduled, cancelled, delivered].map(count),
      milliseconds(p99),
    ]),
  );

const labelsTable = ({ labels }: Sample): string =>
  tableOf(
    ['label', 'live', 'scheduled', 'cancelled', 'delivered', '99 % within', 'factor'],
    labels.map(({ label, size, scheduled, cancelled, delivered, p99, scale }) => [
      label,
      ...[size, scheduled, cancelled, delivered].map(count),
      milliseconds(p99),
      scale === undefined ? '' : `${Number(scale.factor.toFixed(3))}`,
    ]),
  );
