import type { Sample } from '../messages.ts';
import { count, timeText } from './format.ts';

/** A row of a table of two columns. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** Durable timers of a process, and their store: one table for the page and for terminals. */
export function durableFactsOf({ lateness, store, ...counts }: NonNullable<Sample['durable']>): Fact[] {
  const { cancelled, delivered, died, endedYoung, failed, retried, scheduled, young } = counts;
  const ofStore: [string, number][] =
    store === undefined
      ? []
      : [
          [`Stored, in ${store.kind}`, store.stored],
          ['Overdue', store.overdue],
          ['Being delivered', store.active],
          ['Dead, kept', store.dead],
          ['In the wheel here', store.near],
          ['Writes', store.writes],
        ];
  const rows: [string, number][] = [
    ...ofStore,
    ['In memory alone', young],
    ['Ended without a write', endedYoung],
    ['Scheduled', scheduled],
    ['Cancelled', cancelled],
    ['Delivered', delivered],
    ['Failed', failed],
    ['Tried again', retried],
    ['Died', died],
  ];
  return [
    ...(store === undefined ? [{ name: 'Store', value: 'no answer' }] : []),
    ...rows.map(([name, value]) => ({ name, value: count(value) })),
    { name: 'Late: 50 %', value: timeText(lateness.p50) },
    { name: 'Late: 99 %', value: timeText(lateness.p99) },
    { name: 'Late: most', value: timeText(lateness.max) },
  ];
}
