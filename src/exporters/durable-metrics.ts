import type { DurableStats, StoreStats } from '../durable/durable-stats.ts';
import { metricGroup, type Row } from './metric.ts';

/** Metrics of this process's durable timers. */
const ofProcess: readonly Row<DurableStats>[] = [
  ['durable.young', 'amount', '{timer}', 'Timers in memory alone', 'young'],
  ['durable.scheduled', 'counter', '{call}', 'Calls of schedule, moves included', 'scheduled'],
  ['durable.cancelled', 'counter', '{timer}', 'Timers cancelled', 'cancelled'],
  ['durable.delivered', 'counter', '{timer}', 'Deliveries whose handler resolved', 'delivered'],
  ['durable.failed', 'counter', '{timer}', 'Deliveries whose handler rejected', 'failed'],
  ['durable.retried', 'counter', '{timer}', "Deliveries that were not the timer's first", 'retried'],
  ['durable.died', 'counter', '{timer}', 'Timers that died after their last attempt', 'died'],
  [
    'durable.ended_young',
    'counter',
    '{timer}',
    'Timers that were cancelled or delivered without a write',
    'endedYoung',
  ],
  [
    'durable.lateness',
    'histogram',
    's',
    'Begin of the handler minus the time at which it was due, by the wall clock',
    'lateness',
  ],
];

/** Metrics of the store. All processes that share it report the same of the first four. */
const ofStore: readonly Row<StoreStats>[] = [
  ['durable.store.timers', 'state', '{timer}', 'Stored timers', 'stored'],
  ['durable.store.overdue', 'state', '{timer}', 'Stored timers that are due and not being delivered', 'overdue'],
  ['durable.store.active', 'state', '{timer}', 'Stored timers that are being delivered', 'active'],
  ['durable.store.dead', 'state', '{timer}', 'Dead timers that are kept', 'dead'],
  ['durable.store.near', 'amount', '{timer}', "Stored timers in this process's wheel", 'near'],
  ['durable.store.writes', 'counter', '{write}', 'Records that this process has written, moved or removed', 'writes'],
];

/** Every metric of durable timers, and how to read it. */
export const durableGroups = [
  metricGroup([], ofProcess, (subject: DurableStats) => [{ labels: {}, subject }]),
  metricGroup(['store'], ofStore, ({ store }: DurableStats) =>
    store === undefined ? [] : [{ labels: { store: store.kind }, subject: store }],
  ),
];
