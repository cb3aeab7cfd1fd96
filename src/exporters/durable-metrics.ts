import type { DurableStats, StoreStats } from '../durable/durable-stats.ts';
import { type MetricSource, metricGroup, type Row, samplesOf } from './metric.ts';

/** Metrics of this process's durable timers. */
const ofProcess: readonly Row<DurableStats>[] = [
  ['durable.young', 'amount', '{timer}', 'Timers in memory alone', ({ young }) => young],
  ['durable.scheduled', 'counter', '{call}', 'Calls of schedule, moves included', ({ scheduled }) => scheduled],
  ['durable.cancelled', 'counter', '{timer}', 'Timers cancelled', ({ cancelled }) => cancelled],
  ['durable.delivered', 'counter', '{timer}', 'Deliveries whose handler resolved', ({ delivered }) => delivered],
  ['durable.failed', 'counter', '{timer}', 'Deliveries whose handler rejected', ({ failed }) => failed],
  ['durable.retried', 'counter', '{timer}', "Deliveries that were not the timer's first", ({ retried }) => retried],
  ['durable.died', 'counter', '{timer}', 'Timers that died after their last attempt', ({ died }) => died],
  [
    'durable.ended_young',
    'counter',
    '{timer}',
    'Timers that were cancelled or delivered without a write',
    ({ endedYoung }) => endedYoung,
  ],
  [
    'durable.lateness',
    'histogram',
    's',
    'Begin of the handler minus the time at which it was due, by the wall clock',
    ({ lateness }) => lateness,
  ],
];

/** Metrics of the store. All processes that share it report the same of the first four. */
const ofStore: readonly Row<StoreStats>[] = [
  ['durable.store.timers', 'state', '{timer}', 'Stored timers', ({ stored }) => stored],
  [
    'durable.store.overdue',
    'state',
    '{timer}',
    'Stored timers that are due and not being delivered',
    ({ overdue }) => overdue,
  ],
  ['durable.store.active', 'state', '{timer}', 'Stored timers that are being delivered', ({ active }) => active],
  ['durable.store.dead', 'state', '{timer}', 'Dead timers that are kept', ({ dead }) => dead],
  ['durable.store.near', 'amount', '{timer}', "Stored timers in this process's wheel", ({ near }) => near],
  [
    'durable.store.writes',
    'counter',
    '{write}',
    'Records that this process has written, moved or removed',
    ({ writes }) => writes,
  ],
];

/** Every metric of durable timers, and how to read it. */
export const durableGroups = [
  metricGroup({ labels: [], rows: ofProcess, subjects: (subject: DurableStats) => [{ labels: {}, subject }] }),
  metricGroup({
    labels: ['store'],
    rows: ofStore,
    subjects: ({ store }: DurableStats) =>
      store === undefined ? [] : [{ labels: { store: store.kind }, subject: store }],
  }),
];

/** Durable timers as a source of metrics. */
export class DurableSource implements MetricSource {
  readonly subject: object;
  private readonly stats: () => Promise<DurableStats>;
  private reading: ReturnType<MetricSource['read']> | undefined;

  constructor(subject: object, stats: () => Promise<DurableStats>) {
    this.subject = subject;
    this.stats = stats;
  }

  read(): ReturnType<MetricSource['read']> {
    this.reading ??= this.stats()
      .then((stats) => samplesOf(durableGroups, stats))
      .finally(() => {
        this.reading = undefined;
      });
    return this.reading;
  }
}
