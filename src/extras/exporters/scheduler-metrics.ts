import type { SchedulerStats } from '../../scheduler/stats.ts';
import { metricGroup, type Row } from './metric.ts';

type ShardStats = SchedulerStats['shards'][number];
type LabelStats = SchedulerStats['labels'][number];
type ClientStats = SchedulerStats['clients'][number];

/** A client of a shared scheduler, or a scheduler alone. */
type CountedClient = Omit<ClientStats, 'thread' | 'answered'> & Partial<Pick<ClientStats, 'answered'>>;

/** Metrics of this scheduler, and of the other clients if it is shared. */
const answered = ({ answered }: CountedClient) => Number(answered ?? true);

const ofClients: readonly Row<CountedClient>[] = [
  ['timers.live', 'amount', '{timer}', 'Live timers', 'size'],
  ['timers.scheduled', 'counter', '{timer}', 'Timers scheduled', 'scheduled'],
  ['timers.rescheduled', 'counter', '{move}', 'Moves of live timers to another deadline', 'rescheduled'],
  ['timers.cancelled', 'counter', '{timer}', 'Timers cancelled', 'cancelled'],
  ['timers.delivered', 'counter', '{timer}', 'Timers delivered', 'delivered'],
  ['timers.stale', 'counter', '{record}', 'Fired records whose timer had been cancelled or moved meanwhile', 'stale'],
  [
    'timers.untaken',
    'amount',
    '{timer}',
    'Fired timers that the client has not taken: its event loop has stopped',
    'untaken',
  ],
  ['client.answered', 'share', '', '1 if the event loop of the client has answered in time, else 0', answered],
  ['timer.lateness', 'histogram', 's', 'Delivery minus deadline; sums to 0.4 % or half a microsecond', 'lateness'],
];

const ofScheduler: readonly Row<SchedulerStats>[] = [
  ['client.wakes', 'counter', '{turn}', 'Turns of the event loop that delivered timers', 'wakes'],
  ['serving.changes', 'counter', '{change}', 'Changes of what serves the shards', ({ serving }) => serving.changes],
];

const ofServing: readonly Row<SchedulerStats>[] = [
  ['serving.info', 'state', '', 'What serves the shards: 1, with the label by', () => 1],
];

/** Metrics of each shard, for the lane that this scheduler has there. */
const ofShards: readonly Row<ShardStats>[] = [
  ['timers.live', 'amount', '{timer}', 'Live timers placed on the shard', 'size'],
  ['capacity', 'amount', '{timer}', 'Most timers that can be live on the shard'],
  ['high_water', 'amount', '{slot}', 'Slots of the capacity that have ever been in use', 'highWater'],
  ['retired', 'amount', '{slot}', 'Slots of the capacity that are no longer used: all their ids have been given'],
  ['inline', 'state', '', '1 where the shard runs in the calling thread, else 0', ({ inline }) => Number(inline)],
  ['deaths', 'counter', '{death}', 'Threads of the shard that have died, and its failures inline'],
  ['restarts', 'counter', '{restart}', 'Times that a successor has replaced a shard that died'],
];

/** Metrics that only the shard knows; it may not have answered in time. */
const ofAnswers: readonly Row<Partial<ShardStats>>[] = [
  ['lanes', 'amount', '{lane}', 'Lanes that the shard serves; the following metrics count for all of them'],
  ['commands', 'counter', '{command}', 'Commands that the shard has taken since it was started'],
  ['fired', 'counter', '{timer}', 'Timers that the shard has handed over as due since it was started'],
  ['refiled', 'counter', '{entry}', 'Entries refiled since the shard was started: their timer had been moved to later'],
  ['dropped', 'counter', '{entry}', 'Entries dropped because their timer had ended, since the shard was started'],
  ['cascaded', 'counter', '{entry}', 'Entries moved to a lower level of the wheel since the shard was started'],
  ['filed', 'amount', '{entry}', 'Entries in the wheel, or in the list of a lane that has few'],
  ['memory', 'amount', 'By', 'Memory of the lane and its index that has been touched', 'bytes'],
  ['memory.reserved', 'amount', 'By', 'Address space laid out for lane and index', 'reservedBytes'],
];

const factorOf = ({ factor, min }: LabelStats) => (min === undefined ? undefined : factor);

/** Metrics with separate names, so that a sum over a metric's series counts no timer twice. */
const ofLabels: readonly Row<LabelStats>[] = [
  ['timers.live', 'amount', '{timer}', 'Live timers of the label', 'size'],
  ['timers.scheduled', 'counter', '{timer}', 'Timers of the label scheduled', 'scheduled'],
  ['timers.cancelled', 'counter', '{timer}', 'Timers of the label cancelled', 'cancelled'],
  ['timers.delivered', 'counter', '{timer}', 'Timers of the label delivered', 'delivered'],
  ['timer.lateness', 'histogram', 's', 'Time of delivery minus deadline of the timers of the label', 'lateness'],
];

/** Metrics of each label over all clients that are known. */
const ofAllOfLabels: readonly Row<LabelStats>[] = [
  [
    'factor',
    'share',
    '',
    'Share of the time beyond its minimum that a scaled timer of the label gets; of all clients, the least',
    factorOf,
  ],
  [
    'min',
    'state',
    's',
    'Minimum time of scaled timers of the label; of all clients, the least',
    ({ min }) => min && min / 1000,
  ],
];

/** Every metric of a scheduler, and how to read it. */
export const schedulerGroups = [
  metricGroup('', ['client'], ofClients, (reading: SchedulerStats) =>
    (reading.clients.length > 0 ? reading.clients : [reading]).map((subject) => ({
      labels: { client: `${subject.client}` },
      subject,
    })),
  ),
  metricGroup('', ['client'], ofScheduler, (subject: SchedulerStats) => [
    { labels: { client: `${subject.client}` }, subject },
  ]),
  metricGroup('', ['client', 'by'], ofServing, (subject: SchedulerStats) => [
    { labels: { client: `${subject.client}`, by: subject.serving.by }, subject },
  ]),
  metricGroup('shard.', ['client', 'shard'], ofShards, ({ client, shards }: SchedulerStats) =>
    shards.map((subject) => ({ labels: { client: `${client}`, shard: `${subject.shard}` }, subject })),
  ),
  metricGroup('shard.', ['client', 'shard'], ofAnswers, ({ client, shards }: SchedulerStats) =>
    shards.map((shard) => ({
      labels: { client: `${client}`, shard: `${shard.shard}` },
      subject: (shard.answered ? shard : {}) as Partial<ShardStats>,
    })),
  ),
  metricGroup('label.', ['client', 'label'], ofLabels, (reading: SchedulerStats) =>
    (reading.clients.length > 0 ? reading.clients : [reading]).flatMap(({ client, labels }) =>
      labels.map((subject) => ({ labels: { client: `${client}`, label: subject.label }, subject })),
    ),
  ),
  metricGroup('label.', ['client', 'label'], ofAllOfLabels, ({ client, labels }: SchedulerStats) =>
    labels.map((subject) => ({ labels: { client: `${client}`, label: subject.label }, subject })),
  ),
];
