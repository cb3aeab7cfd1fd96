import { statsSourceOf } from '../durable/durable-stats.ts';
import { internalsOf } from '../scheduler/internals.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { durableGroups } from './durable-metrics.ts';
import { type ExporterOptions, resolveExporterOptions } from './exported.ts';
import { type MetricGroup, samplesOf } from './metric.ts';
import { type MetricFamily, MetricSource } from './metric-source.ts';
import { schedulerGroups } from './scheduler-metrics.ts';
import { schedulerReader } from './scheduler-reader.ts';

const familyOf = (what: string, label: string, groups: readonly MetricGroup<never>[]): MetricFamily => {
  return { what, label, metrics: groups.flatMap(({ metrics }) => metrics) };
};

const schedulers = familyOf('scheduler', 'scheduler', schedulerGroups);
const durable = familyOf('durable timers', 'durable', durableGroups);

/** Every family of metrics. */
export const families: readonly MetricFamily[] = [schedulers, durable];

/**
 * Returns the metrics of a scheduler, or of durable timers. Throws InvalidArgumentError, also if it is neither, and
 * InvalidConfigError.
 */
export function sourceOf(exported: unknown, options: ExporterOptions | undefined): MetricSource {
  const { name, timeout } = resolveExporterOptions(options);
  const stats = statsSourceOf(exported);
  if (stats !== undefined) {
    return new MetricSource(durable, exported as object, name, async () => samplesOf(durableGroups, await stats()));
  }
  const { coordinator } = internalsOf(exported as Scheduler);
  const read = schedulerReader(coordinator, timeout);
  return new MetricSource(schedulers, coordinator, name, async () => samplesOf(schedulerGroups, await read()));
}
