import type { DurableStats, StoreStats } from '../durable/durable-stats.ts';
import { metricGroup, type Row } from './metric.ts';

/** Metrics of this process's durable timers. */
const ofProcess: readonly Row<DurableStats>[] = [
  ['young', 'amount', '{timer}', 'Timers in memory alone'],
  [
    'scheduled',
    'counter',
    '{call}',
    'Calls of schedule and scheduleAfter, also those that ifAbsent or keep left without effect',
  ],
  ['cancelled', 'counter', '{timer}', 'Timers cancelled'],
  ['delivered', 'counter', '{timer}', 'Deliveries whose handler resolved'],
  [
    'failed',
    'counter',
    '{timer}',
    'Attempts that have failed: rejected, timed out, or with a payload that cannot be read',
  ],
  ['retried', 'counter', '{timer}', "Deliveries that were not the timer's first"],
  ['died', 'counter', '{timer}', 'Timers that died after their last attempt'],
  ['ended_young', 'counter', '{timer}', 'Timers that were cancelled or delivered without a write', 'endedYoung'],
  ['lateness', 'histogram', 's', 'Begin of the handler minus the time at which it was due, by the wall clock'],
];

/** Metrics of the store. All processes that share it report the same of the first four. */
const ofStore: readonly Row<StoreStats>[] = [
  ['timers', 'state', '{timer}', 'Stored timers', 'stored'],
  [
    'overdue',
    'state',
    '{timer}',
    'Stored timers that are due and not being delivered; LMDB and the memory store count up to 10,000',
  ],
  ['active', 'state', '{timer}', 'Stored timers that are being delivered'],
  ['dead', 'state', '{timer}', 'Dead timers that are kept'],
  ['near', 'amount', '{timer}', "Stored timers in this process's wheel"],
  ['writes', 'counter', '{write}', 'Records that this process has written, moved or removed'],
];

/** Every metric of durable timers, and how to read it. */
export const durableGroups = [
  metricGroup('durable.', [], ofProcess, (subject: DurableStats) => [{ labels: {}, subject }]),
  metricGroup('durable.store.', ['store'], ofStore, ({ store }: DurableStats) =>
    store === undefined ? [] : [{ labels: { store: store.kind }, subject: store }],
  ),
];
