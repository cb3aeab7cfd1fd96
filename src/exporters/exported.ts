import type { ResolvedExporterOptions } from './exporter-options.ts';
import type { MetricFamily, MetricSource } from './metric.ts';
import { MetricsError } from './metrics-error.ts';

/** A source of metrics that is in a registry or a meter. */
export interface Exported {
  readonly name: string | undefined;
  readonly source: MetricSource;
}

/** Creates one to add to `there`. Throws MetricsError if the source or its name is already there. */
export function newExported(
  where: string,
  there: readonly Exported[],
  { what }: MetricFamily,
  source: MetricSource,
  { name }: ResolvedExporterOptions,
): Exported {
  if (there.some((exported) => exported.source.subject === source.subject)) throw MetricsError.twice(where, what);
  if (there.some((exported) => exported.name === name)) throw MetricsError.sameName(where, what, name);
  return { name, source };
}
