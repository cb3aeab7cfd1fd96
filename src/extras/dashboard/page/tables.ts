import type { Restarted } from '../messages.ts';
import { durableFactsOf, type Fact } from './durable-facts.ts';
import { byId, setText } from './elements.ts';
import { clock, count, percent, sizeText, timeText, total, visible } from './format.ts';
import type { ShardView, View } from './model.ts';
import { type Column, Table } from './table.ts';

interface Incident {
  readonly when: string;
  readonly what: string;
}

/** A table, and what it shows of a view. */
interface TableOfView {
  readonly element: HTMLElement;
  readonly show: (view: View) => void;
}

function tableOf<Row>(
  id: string,
  caption: string,
  columns: readonly Column<Row>[],
  none: string,
  rows: (view: View) => readonly Row[],
): TableOfView {
  const element = byId(id);
  const table = new Table(element, caption, columns, none);
  return { element, show: (view) => table.show(rows(view)) };
}

const factColumns: readonly Column<Fact>[] = [
  { title: 'What', text: ({ name }) => name },
  { title: 'Now', text: ({ value }) => value },
];

/** Everything that is a table by itself. `interval`: ms between two samples. */
export const tables = (interval: () => number): TableOfView[] => [
  { element: byId('serving'), show: (view) => setText(byId('serving'), servingOf(view)) },
  shardsTable(),
  lanesTable(),
  clientsTable(),
  labelsTable(),
  clientLabelsTable(),
  durableTable(),
  tableOf('process', 'Process', factColumns, '', (view) => factsOf(view, interval())),
  tableOf<Incident>(
    'events',
    'Warnings and restarts',
    [
      { title: 'When', text: ({ when }) => when },
      { title: 'What', text: ({ what }) => visible(what), isText: true, isLong: true },
    ],
    'No warning, and no shard was restarted while this dashboard was served.',
    incidentsOf,
  ),
];

function durableTable(): TableOfView {
  const none = 'None were given to this dashboard, or they have not answered yet.';
  const card = byId('durable').parentElement as HTMLElement;
  return tableOf('durable', 'Durable timers', factColumns, none, ({ durable }) => {
    if (durable === undefined) return [];
    // The longest card comes last, so that both columns are full.
    if (card.nextElementSibling !== null) card.parentElement?.append(card);
    return durableFactsOf(durable);
  });
}

const rateOf = ({ rates }: ShardView, name: keyof NonNullable<ShardView['rates']>): string =>
  rates === undefined ? '–' : count(rates[name]);

const shardsTable = (): TableOfView =>
  tableOf<ShardView>(
    'shards',
    'Shards',
    [
      { title: 'Shard', text: ({ shard }) => `${shard}` },
      { title: 'Served', text: ({ inline }) => (inline ? 'inline' : 'by a thread'), isText: true },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Capacity', text: ({ capacity }) => count(capacity) },
      { title: 'Most at a time', text: ({ highWater }) => count(highWater) },
      { title: 'Filed', text: ({ filed }) => count(filed) },
      { title: 'Commands/s', text: (shard) => rateOf(shard, 'commands') },
      { title: 'Fired/s', text: (shard) => rateOf(shard, 'fired') },
      { title: 'Cascaded/s', text: (shard) => rateOf(shard, 'cascaded') },
      { title: 'Turns/s', text: (shard) => rateOf(shard, 'turns') },
      { title: 'Memory', text: ({ bytes }) => sizeText(bytes) },
      { title: 'Deaths', text: ({ deaths }) => count(deaths) },
      { title: 'Restarts', text: ({ restarts }) => count(restarts) },
    ],
    'No shard is there any more.',
    ({ shards }) => shards,
  );

const lanesTable = (): TableOfView =>
  tableOf<View['lanes'][number]>(
    'lanes',
    'Lanes and queues',
    [
      { title: 'Client', text: ({ client }) => nameOf(client) },
      { title: 'Shard', text: ({ shard }) => `${shard}` },
      { title: 'Filed', text: ({ filed }) => count(filed) },
      { title: 'Commands waiting', text: ({ commands }) => count(commands) },
      { title: 'Late', text: ({ late }) => count(late) },
      { title: 'Fired, not taken', text: ({ fired }) => count(fired) },
    ],
    'No lane is served by a shard of this scheduler.',
    ({ lanes }) => lanes,
  );

const clientsTable = (): TableOfView =>
  tableOf<View['stats']['clients'][number]>(
    'clients',
    'Clients',
    [
      { title: 'Client', text: ({ client }) => nameOf(client) },
      { title: 'Thread', text: ({ thread }) => `${thread}` },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Scheduled', text: ({ scheduled }) => count(scheduled) },
      { title: 'Cancelled', text: ({ cancelled }) => count(cancelled) },
      { title: 'Delivered', text: ({ delivered }) => count(delivered) },
      { title: 'Fired, not taken', text: ({ untaken }) => count(untaken) },
      { title: '99 % within', text: ({ lateness }) => timeText(lateness.p99) },
    ],
    'The scheduler is not shared: its owner is its only client.',
    ({ stats }) => stats.clients,
  );

const labelsTable = (): TableOfView =>
  tableOf<View['stats']['labels'][number]>(
    'labels',
    'Labels',
    [
      { title: 'Label', text: ({ label }) => visible(label) },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Scheduled', text: ({ scheduled }) => count(scheduled) },
      { title: 'Cancelled', text: ({ cancelled }) => count(cancelled) },
      { title: 'Delivered', text: ({ delivered }) => count(delivered) },
      { title: '99 % within', text: ({ lateness }) => timeText(lateness.p99) },
      { title: 'Factor', text: factorText },
      { title: 'Least', text: ({ min }) => (min === undefined ? '' : timeText(min)) },
    ],
    'No timer has a label.',
    ({ stats }) => stats.labels,
  );

type LabelRow = View['stats']['labels'][number];

const factorText = ({ factor, min }: LabelRow): string => (min === undefined ? '' : `${Number(factor.toFixed(3))}`);

/** A label of one client. */
interface ClientLabel extends LabelRow {
  readonly client: number;
}

const clientLabelsTable = (): TableOfView =>
  tableOf<ClientLabel>(
    'client-labels',
    'Labels by client',
    [
      { title: 'Label', text: ({ label }) => visible(label) },
      { title: 'Client', text: ({ client }) => nameOf(client) },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Scheduled', text: ({ scheduled }) => count(scheduled) },
      { title: 'Delivered', text: ({ delivered }) => count(delivered) },
      { title: '99 % within', text: ({ lateness }) => timeText(lateness.p99) },
      { title: 'Factor', text: factorText },
    ],
    'The scheduler is not shared, or no timer has a label.',
    ({ stats }) => stats.clients.flatMap(({ client, labels }) => labels.map((label) => ({ ...label, client }))),
  );

function servingOf({ stats: { serving } }: View): string {
  const { by, changes, reason, since } = serving;
  const often = changes === 0 ? '' : changes === 1 ? '; changed once' : `; changed ${changes} times`;
  const how = by === 'inline' ? 'Served inline, in the event loop' : 'Served by threads';
  const when = since > 0 ? `, since ${timeText(since)} after the start` : '';
  return `${how}${when}: ${visible(reason)}${often}.`;
}

const nameOf = (client: number): string => (client === 0 ? 'owner' : `${client}`);

const incidentsOf = ({ clientCount, labelCount, restarted, stats }: View): Incident[] => [
  ...stats.warnings.map(({ message }) => ({ when: 'now', what: message })),
  ...stats.clients.filter(({ answered }) => !answered).map(stoppedOf),
  ...restarted.map(incidentOf),
  ...leftOf('clients', stats.clients.length, clientCount),
  ...leftOf('labels', stats.labels.length, labelCount),
];

const stoppedOf = ({ client, thread, untaken }: View['stats']['clients'][number]): Incident => ({
  when: 'now',
  what: `The event loop of client ${nameOf(client)}, in thread ${thread}, does not answer; fired timers that wait for it: ${count(untaken)}.`,
});

const incidentOf = ({ at, cause, rescheduled, shard }: Restarted): Incident => ({
  when: clock(at),
  what: `Shard ${shard} was restarted, with ${count(rescheduled)} live timers: ${cause}`,
});

const leftOf = (name: string, shown: number, there: number): Incident[] =>
  there > shown ? [{ when: 'now', what: `${shown} of ${there} ${name} are shown.` }] : [];

function factsOf({ cores, cost, memory, stale, stats: { shards, slack } }: View, interval: number): Fact[] {
  const facts: [string, string][] = [
    ['Process, of a core', cores === undefined ? '–' : percent(cores.process)],
    ['Event loop busy', cores === undefined ? '–' : percent(cores.loop)],
    ['Resident', sizeText(memory.rss)],
    ['Heap in use', `${sizeText(memory.heapUsed)} of ${sizeText(memory.heapTotal)}`],
    ['External', sizeText(memory.external)],
    ['Lanes and wheels', sizeText(total(shards, 'bytes'))],
    ['Deaths of shards', count(total(shards, 'deaths'))],
    ['Restarts of shards', count(total(shards, 'restarts'))],
    ['Fired, but cancelled or moved', count(stale)],
    ['Slack', slack === 0 ? 'none' : timeText(slack)],
    ['This page, of the event loop', `${timeText(cost)} (${percent(cost / interval)})`],
  ];
  return facts.map(([name, value]) => ({ name, value }));
}
