import type { DurableStats } from './durable-stats.ts';

/** Durable timers, as far as exporters and the dashboard know them. */
export interface DurableStatsSource {
  stats(): Promise<DurableStats>;
}

/** How to read the counts of durable timers: for exporters and the dashboard, which load nothing else of them. */
const sources = new WeakMap<object, () => Promise<DurableStats>>();

/** Makes an object known as durable timers. @internal */
export function addStatsSource(timers: object, read: () => Promise<DurableStats>): void {
  sources.set(timers, read);
}

/** Undefined if the value is no durable timers. @internal */
export const statsSourceOf = (value: unknown): (() => Promise<DurableStats>) | undefined =>
  typeof value === 'object' && value !== null ? sources.get(value) : undefined;
