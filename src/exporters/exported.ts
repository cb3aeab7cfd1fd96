import type { Coordinator } from '../scheduler/coordinator.ts';
import type { ResolvedExporterOptions } from './exporter-options.ts';
import { MetricsError } from './metrics-error.ts';
import { StatsReader } from './stats-reader.ts';

/** A scheduler whose metrics are registered in a registry or a meter. */
export interface Exported {
  readonly coordinator: Coordinator;
  readonly name: string | undefined;
  readonly reader: StatsReader;
}

/** Creates one to add to `there`. Throws MetricsError if the scheduler or its name is already there. */
export function newExported(
  where: string,
  there: readonly Exported[],
  coordinator: Coordinator,
  { name, timeout }: ResolvedExporterOptions,
): Exported {
  if (there.some((exported) => exported.coordinator === coordinator)) throw MetricsError.twice(where);
  if (there.some((exported) => exported.name === name)) throw MetricsError.sameName(where, name);
  return { coordinator, name, reader: new StatsReader(coordinator, timeout) };
}
