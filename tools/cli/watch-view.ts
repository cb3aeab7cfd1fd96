import Table from 'cli-table3';
import { printable } from '../../bench/replay/printable.ts';
import { durableFactsOf } from '../../src/extras/dashboard/page/durable-facts.ts';
import { count, percent, sizeText, timeText, UNSEEN, visible } from '../../src/extras/dashboard/page/format.ts';
import type { LatenessView, View } from '../../src/extras/dashboard/page/model.ts';

const rate = (value: number | undefined): string => (value === undefined ? '–' : `${count(value)}/s`);

/** What a wheel's level holds, in eight steps. */
const steps = ' ▁▂▃▄▅▆▇█';
/** Characters to a level's turn. */
const COLUMNS = 64;
/** Maximum of characters of a cell. */
const MAX_CELL_LENGTH = 200;

const escaped = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');

/** The same JSON, without a character that a terminal would obey. */
export const jsonOf = (view: View): string => JSON.stringify(view).replace(UNSEEN, escaped);

/** One line: for logs, and where no screen can be redrawn. */
export function lineOf({ at, cores, memory, overall, rates, recent, size }: View): string {
  const late = recent === undefined || recent.count === 0 ? '–' : timeText(recent.p99);
  const parts = [
    new Date(at).toISOString(),
    `${count(size)} live`,
    `scheduled ${rate(rates?.scheduled)}`,
    `moved ${rate(rates?.rescheduled)}`,
    `cancelled ${rate(rates?.cancelled)}`,
    `delivered ${rate(rates?.delivered)}`,
    `99 % within ${late} now, ${timeText(overall.p99)} over the run`,
    sizeText(memory.rss),
    `loop ${cores === undefined ? '–' : percent(cores.loop)}`,
  ];
  return printable(parts.join(' | '));
}

/** Everything as tables, for a terminal. */
export function screenOf(view: View): string {
  const parts = [countsTable(view), latenessTable(view), shardsTable(view), ...wheelsOf(view), lanesTable(view)];
  const { durable, restarted, stats } = view;
  if (stats.clients.length > 0) parts.push(clientsTable(view));
  if (stats.labels.length > 0) parts.push(labelsTable(view));
  if (stats.clients.some(({ labels }) => labels.length > 0)) parts.push(clientLabelsTable(view));
  if (durable !== undefined) {
    const facts = durableFactsOf(durable).map(({ name, value }) => [name, value]);
    parts.push(tableOf(['durable timers', ''], facts));
  }
  const { by, reason } = stats.serving;
  const lines = [
    `Served ${by === 'inline' ? 'inline' : 'by threads'}: ${reason}`,
    ...stats.warnings.map(({ message }) => message),
    ...restarted.map(({ shard, cause }) => `Shard ${shard} was restarted: ${cause}`),
  ];
  return printable([...parts, ...lines.map(visible)].join('\n'));
}

type Row = readonly string[];

const cellOf = (text: string): string =>
  visible(text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text);

/** The first column has words, the others numbers. */
function tableOf(head: Row, rows: readonly Row[]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    colAligns: head.map((_, at) => (at === 0 ? 'left' : 'right')),
  });
  for (const row of rows) table.push(row.map(cellOf));
  return table.toString();
}

const countsTable = ({ cores, memory, rates, size, ...counts }: View): string =>
  tableOf(
    ['', 'live', 'scheduled', 'moved', 'cancelled', 'delivered', 'resident', 'loop', 'process'],
    [
      [
        'now',
        count(size),
        rate(rates?.scheduled),
        rate(rates?.rescheduled),
        rate(rates?.cancelled),
        rate(rates?.delivered),
        sizeText(memory.rss),
        cores === undefined ? '–' : percent(cores.loop),
        cores === undefined ? '–' : percent(cores.process),
      ],
      [
        'in all',
        '',
        count(counts.scheduled),
        count(counts.rescheduled),
        count(counts.cancelled),
        count(counts.delivered),
        '',
        '',
        '',
      ],
    ],
  );

function latenessTable({ overall, recent, seconds }: View): string {
  const row = (name: string, view: LatenessView | undefined): Row =>
    view === undefined || view.count === 0
      ? [name, '0', '–', '–', '–', '–', '–']
      : [name, count(view.count), ...[view.mean, view.p50, view.p90, view.p99, view.max].map(timeText)];
  return tableOf(
    ['lateness', 'deliveries', 'mean', '50 % within', '90 %', '99 %', 'latest'],
    [row(`last ${Math.round(seconds)} s`, recent), row('the run', overall)],
  );
}

const shardsTable = ({ shards }: View): string =>
  tableOf(
    ['shard', 'served', 'live', 'filed', 'commands', 'fired', 'cascaded', 'turns', 'memory', 'restarts'],
    shards.map((shard) => [
      `${shard.shard}`,
      shard.inline ? 'inline' : 'thread',
      count(shard.size),
      count(shard.filed),
      rate(shard.rates?.commands),
      rate(shard.rates?.fired),
      rate(shard.rates?.cascaded),
      rate(shard.rates?.turns),
      sizeText(shard.bytes),
      count(shard.restarts),
    ]),
  );

/** By the logarithm, as the page's shades. */
function stepOf(held: number, most: number): number {
  if (held === 0) return 0;
  return most === 1 ? 8 : 1 + Math.round((Math.log(held) / Math.log(most)) * 7);
}

/** The levels of each wheel that hold something: a turn from its slot 0 on, the hand beneath. */
function wheelsOf({ shards }: View): string[] {
  return shards.flatMap(({ shard, levels }) =>
    levels
      .map((level, number) => ({ number, ...level }))
      .filter(({ entries, slots }) => slots > 1 && entries > 0)
      .flatMap(({ arcs, entries, hand, slotTime, slots, number }) => {
        const columns = new Array<number>(Math.min(COLUMNS, arcs.length)).fill(0);
        for (const [arc, held] of arcs.entries()) columns[Math.floor((arc * columns.length) / arcs.length)] += held;
        const bars = columns.map((held) => steps[stepOf(held, Math.max(...columns))]);
        const name = cellOf(`wheel ${shard}, level ${number}`).padEnd(18);
        const column = Math.min(columns.length, Math.max(0, Math.floor((hand * columns.length) / slots)));
        const turn = `${timeText(slotTime)} a slot`.padStart(18);
        return [`${name}|${bars.join('')}|${turn}, ${count(entries)} entries`, `${' '.repeat(19 + column)}^`];
      }),
  );
}

const lanesTable = ({ lanes }: View): string =>
  tableOf(
    ['lane of client', 'shard', 'filed', 'commands waiting', 'late', 'fired, not taken'],
    lanes.map(({ client, shard, filed, commands, late, fired }) => [
      client === 0 ? 'owner' : `${client}`,
      `${shard}`,
      ...[filed, commands, late, fired].map(count),
    ]),
  );

const clientsTable = ({ stats }: View): string =>
  tableOf(
    ['client', 'thread', 'live', 'scheduled', 'cancelled', 'delivered', 'fired, not taken', 'answers', '99 % within'],
    stats.clients.map(({ client, thread, size, scheduled, cancelled, delivered, untaken, answered, lateness }) => [
      client === 0 ? 'owner' : `${client}`,
      `${thread}`,
      ...[size, scheduled, cancelled, delivered, untaken].map(count),
      answered ? 'yes' : 'no',
      timeText(lateness.p99),
    ]),
  );

const labelsTable = ({ stats }: View): string =>
  tableOf(
    ['label', 'live', 'scheduled', 'cancelled', 'delivered', '99 % within', 'factor'],
    stats.labels.map(({ label, min, factor, size, scheduled, cancelled, delivered, lateness }) => [
      label,
      ...[size, scheduled, cancelled, delivered].map(count),
      timeText(lateness.p99),
      min === undefined ? '' : `${Number(factor.toFixed(3))}`,
    ]),
  );

/** Of a scheduler that is shared: whose timers they are. */
const clientLabelsTable = ({ stats }: View): string =>
  tableOf(
    ['label, by client', 'client', 'live', 'scheduled', 'delivered', '99 % within', 'factor'],
    stats.clients.flatMap(({ client, labels }) =>
      labels.map(({ label, min, factor, size, scheduled, delivered, lateness }) => [
        label,
        client === 0 ? 'owner' : `${client}`,
        ...[size, scheduled, delivered].map(count),
        timeText(lateness.p99),
        min === undefined ? '' : `${Number(factor.toFixed(3))}`,
      ]),
    ),
  );
