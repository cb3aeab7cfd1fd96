import type { ClientView, DurableView, LabelView, LaneView, RestartView, Sample, ShardView } from '../messages.ts';
import { byId, setText } from './elements.ts';
import { clock, count, percent, sizeText, timeText } from './format.ts';
import { type Column, Table } from './table.ts';

const perSecond = (rate: number | undefined): string => (rate === undefined ? '–' : count(rate));

interface Fact {
  readonly name: string;
  readonly value: string;
}

interface Incident {
  readonly when: string;
  readonly what: string;
}

/** A table, and what it shows of a sample. */
interface TableOfSample {
  readonly element: HTMLElement;
  readonly show: (sample: Sample) => void;
}

function tableOf<Row>(
  id: string,
  caption: string,
  columns: readonly Column<Row>[],
  none: string,
  rows: (sample: Sample) => readonly Row[],
): TableOfSample {
  const element = byId(id);
  const table = new Table(element, caption, columns, none);
  return { element, show: (sample) => table.show(rows(sample)) };
}

/** Everything that is a table by itself. `interval`: ms between two samples. */
export function tables(interval: () => number): TableOfSample[] {
  return [
    shardsTable(),
    lanesTable(),
    clientsTable(),
    labelsTable(),
    durableTable(),
    tableOf<Fact>(
      'process',
      'Process',
      [
        { title: 'What', text: ({ name }) => name },
        { title: 'Now', text: ({ value }) => value },
      ],
      '',
      (sample) => factsOf(sample, interval()),
    ),
    tableOf<Incident>(
      'events',
      'Warnings and restarts',
      [
        { title: 'When', text: ({ when }) => when },
        { title: 'What', text: ({ what }) => what, isText: true, isLong: true },
      ],
      'No warning, and no shard was restarted while this dashboard was served.',
      incidentsOf,
    ),
  ];
}

function shardsTable(): TableOfSample {
  const { element, show } = tableOf<ShardView>(
    'shards',
    'Shards',
    [
      { title: 'Shard', text: ({ shard }) => `${shard}` },
      { title: 'Served', text: ({ inline }) => (inline ? 'inline' : 'by a thread'), isText: true },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Capacity', text: ({ capacity }) => count(capacity) },
      { title: 'Most at a time', text: ({ highWater }) => count(highWater) },
      { title: 'Filed', text: ({ filed }) => count(filed) },
      { title: 'Commands/s', text: ({ commands }) => perSecond(commands) },
      { title: 'Fired/s', text: ({ fired }) => perSecond(fired) },
      { title: 'Cascaded/s', text: ({ cascaded }) => perSecond(cascaded) },
      { title: 'Turns/s', text: ({ turns }) => perSecond(turns) },
      { title: 'Memory', text: ({ bytes }) => sizeText(bytes) },
      { title: 'Deaths', text: ({ deaths }) => count(deaths) },
      { title: 'Restarts', text: ({ restarts }) => count(restarts) },
    ],
    'No shard is there any more.',
    ({ shards }) => shards,
  );
  return {
    element,
    show: (sample) => {
      setText(byId('serving'), servingOf(sample));
      show(sample);
    },
  };
}

const lanesTable = (): TableOfSample =>
  tableOf<LaneView>(
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

const clientsTable = (): TableOfSample =>
  tableOf<ClientView>(
    'clients',
    'Clients',
    [
      { title: 'Client', text: ({ client }) => nameOf(client) },
      { title: 'Thread', text: ({ thread }) => `${thread}` },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Scheduled', text: ({ scheduled }) => count(scheduled) },
      { title: 'Cancelled', text: ({ cancelled }) => count(cancelled) },
      { title: 'Delivered', text: ({ delivered }) => count(delivered) },
      { title: '99 % within', text: ({ p99 }) => timeText(p99) },
    ],
    'The scheduler is not shared: its owner is its only client.',
    ({ clients }) => clients,
  );

const labelsTable = (): TableOfSample =>
  tableOf<LabelView>(
    'labels',
    'Labels',
    [
      { title: 'Label', text: ({ label }) => label },
      { title: 'Live', text: ({ size }) => count(size) },
      { title: 'Scheduled', text: ({ scheduled }) => count(scheduled) },
      { title: 'Cancelled', text: ({ cancelled }) => count(cancelled) },
      { title: 'Delivered', text: ({ delivered }) => count(delivered) },
      { title: '99 % within', text: ({ p99 }) => timeText(p99) },
      { title: 'Factor', text: ({ scale }) => (scale === undefined ? '' : `${Number(scale.factor.toFixed(3))}`) },
      { title: 'Least', text: ({ scale }) => (scale === undefined ? '' : timeText(scale.min)) },
    ],
    'No timer has a label.',
    ({ labels }) => labels,
  );

const durableTable = (): TableOfSample =>
  tableOf<Fact>(
    'durable',
    'Durable timers',
    [
      { title: 'What', text: ({ name }) => name },
      { title: 'Now', text: ({ value }) => value },
    ],
    'None were given to this dashboard, or they have not answered yet.',
    ({ durable }) => (durable === undefined ? [] : durableFactsOf(durable)),
  );

function durableFactsOf({ store, ...counts }: DurableView): Fact[] {
  const { cancelled, delivered, died, endedYoung, failed, max, p50, p99, retried, scheduled, young } = counts;
  const ofStore =
    store === undefined
      ? [{ name: 'Store', value: 'no answer' }]
      : [
          { name: `Stored, in ${store.kind}`, value: count(store.stored) },
          { name: 'Overdue', value: count(store.overdue) },
          { name: 'Being delivered', value: count(store.active) },
          { name: 'Dead, kept', value: count(store.dead) },
          { name: 'In the wheel here', value: count(store.near) },
          { name: 'Writes', value: count(store.writes) },
        ];
  return [
    ...ofStore,
    { name: 'In memory alone', value: count(young) },
    { name: 'Ended without a write', value: count(endedYoung) },
    { name: 'Scheduled and cancelled', value: `${count(scheduled)} and ${count(cancelled)}` },
    { name: 'Delivered, failed, tried again', value: `${count(delivered)}, ${count(failed)}, ${count(retried)}` },
    { name: 'Died', value: count(died) },
    { name: 'Late: 50 %, 99 %, most', value: `${timeText(p50)}, ${timeText(p99)}, ${timeText(max)}` },
  ];
}

function servingOf({ serving: { by, changes, reason, since } }: Sample): string {
  const often = changes === 0 ? '' : changes === 1 ? '; changed once' : `; changed ${changes} times`;
  const how = by === 'inline' ? 'Served inline, in the event loop' : 'Served by threads';
  return `${how}${since > 0 ? `, since ${timeText(since)} after the start` : ''}: ${reason}${often}.`;
}

const incidentsOf = (sample: Sample): Incident[] => [
  ...sample.warnings.map((what) => ({ when: 'now', what })),
  ...sample.restarted.map(incidentOf),
  ...leftOf('lanes', sample.lanes.length, sample.laneCount),
  ...leftOf('clients', sample.clients.length, sample.clientCount),
  ...leftOf('labels', sample.labels.length, sample.labelCount),
];

const nameOf = (client: number): string => (client === 0 ? 'owner' : `${client}`);

const incidentOf = ({ at, cause, rescheduled, shard }: RestartView): Incident => ({
  when: clock(at),
  what: `Shard ${shard} was restarted, with ${count(rescheduled)} live timers: ${cause}`,
});

const leftOf = (name: string, shown: number, there: number): Incident[] =>
  there > shown ? [{ when: 'now', what: `${shown} of ${there} ${name} are shown.` }] : [];

function factsOf({ cost, cpu, deaths, memory, restarts, slack, stale }: Sample, interval: number): Fact[] {
  return [
    { name: 'Process, of a core', value: cpu === undefined ? '–' : percent(cpu.process) },
    { name: 'Event loop busy', value: cpu === undefined ? '–' : percent(cpu.loop) },
    { name: 'Resident', value: sizeText(memory.resident) },
    { name: 'Heap in use', value: `${sizeText(memory.heapUsed)} of ${sizeText(memory.heapTotal)}` },
    { name: 'External', value: sizeText(memory.external) },
    { name: 'Lanes and wheels', value: sizeText(memory.timers) },
    { name: 'Deaths and restarts of shards', value: `${count(deaths)} and ${count(restarts)}` },
    { name: 'Fired, but cancelled or moved', value: count(stale) },
    { name: 'Slack', value: slack === 0 ? 'none' : timeText(slack) },
    { name: 'This page, of the event loop', value: `${timeText(cost)} (${percent(cost / interval)})` },
  ];
}
