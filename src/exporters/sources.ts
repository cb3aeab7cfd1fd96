import { statsSourceOf } from '../durable/durable-stats.ts';
import { internalsOf } from '../scheduler/internals.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { DurableSource, durableGroups } from './durable-metrics.ts';
import type { ResolvedExporterOptions } from './exported.ts';
import type { MetricFamily, MetricSource } from './metric.ts';
import { schedulerGroups } from './scheduler-metrics.ts';
import { SchedulerSource } from './scheduler-source.ts';

const schedulers: MetricFamily = {
  what: 'scheduler',
  label: 'scheduler',
  metrics: schedulerGroups.flatMap(({ metrics }) => metrics),
};

const durable: MetricFamily = {
  what: 'durable timers',
  label: 'durable',
  metrics: durableGroups.flatMap(({ metrics }) => metrics),
};

/** Every family of metrics. */
export const families: readonly MetricFamily[] = [schedulers, durable];

/** Returns the metrics of a scheduler, or of durable timers. Throws InvalidArgumentError if it is neither. */
export function sourceOf(
  exported: unknown,
  { timeout }: ResolvedExporterOptions,
): { readonly family: MetricFamily; readonly source: MetricSource } {
  const stats = statsSourceOf(exported);
  if (stats !== undefined) return { family: durable, source: new DurableSource(exported as object, stats) };
  const { coordinator } = internalsOf(exported as Scheduler);
  return { family: schedulers, source: new SchedulerSource(coordinator, timeout) };
}
