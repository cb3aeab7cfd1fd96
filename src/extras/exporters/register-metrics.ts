import { requireFile, resolvePackage, searchedFolders } from '../../package-files.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { DurableStatsSource } from '../durable/durable-stats.ts';
import { type ExporterOptions, MetricsError, requireMethods } from './exported.ts';
import { type MetricFamily, type MetricSource, requireNew, sourceOf } from './metric-source.ts';
import { PrometheusMetric } from './prometheus-metric.ts';

/** The part of a `Registry` of prom-client that is used, written out: programs without that package compile. */
export interface PrometheusRegistry {
  registerMetric(metric: never): void;
  getSingleMetric(name: string): unknown;
  removeSingleMetric(name: string): void;
}

/** A registry's metrics of all sources of a family: a name can be registered once. */
class RegistryMetrics {
  readonly sources: MetricSource[] = [];
  private readonly registry: PrometheusRegistry;
  private readonly metrics: readonly PrometheusMetric[];

  constructor(registry: PrometheusRegistry, { metrics }: MetricFamily) {
    this.registry = registry;
    this.metrics = metrics.map((metric) => new PrometheusMetric(metric, this.sources));
  }

  /** The program may have cleared the registry. */
  get isRegistered(): boolean {
    return this.metrics.every((metric) => this.isOurs(metric));
  }

  /** Registers all metrics or none. Throws MetricsError. */
  register(): void {
    try {
      for (const metric of this.metrics) this.registry.registerMetric(metric as never);
    } catch (error) {
      this.remove();
      throw MetricsError.refused('registry', error);
    }
  }

  remove(): void {
    for (const metric of this.metrics) {
      try {
        if (this.isOurs(metric)) this.registry.removeSingleMetric(metric.key);
      } catch {
        // the registry throws: remove the others nevertheless
      }
    }
  }

  private isOurs(metric: PrometheusMetric): boolean {
    return this.registry.getSingleMetric(metric.key) === metric;
  }
}

const registries = new WeakMap<PrometheusRegistry, Map<MetricFamily, RegistryMetrics>>();

/**
 * Registers the metrics of a scheduler, or of durable timers, with a registry of prom-client 15; by default with
 * prom-client's own, which is then loaded. docs/operate.md lists them. Each scrape reads it once; between scrapes
 * nothing is done. After `close()` its last counts, without shards, are still reported. So the registry holds it until
 * the returned function is called, which removes the metrics.
 * @throws MetricsError if they are already registered, or the registry throws; then nothing is registered.
 * InvalidArgumentError, InvalidConfigError.
 */
export function registerMetrics(
  exported: Scheduler | DurableStatsSource,
  registry?: PrometheusRegistry,
  options?: ExporterOptions,
): () => void {
  const source = sourceOf(exported, options);
  const { family } = source;
  const chosen = registry ?? defaultRegistry();
  requireMethods('registry', 'Registry of prom-client', chosen, METHODS);
  const known = registries.get(chosen) ?? new Map<MetricFamily, RegistryMetrics>();
  const former = known.get(family);
  const registered = former?.isRegistered ? former : new RegistryMetrics(chosen, family);
  const { sources } = registered;
  requireNew('registry', sources, source);
  if (registered !== former) {
    registered.register();
    registries.set(chosen, known.set(family, registered));
  }
  sources.push(source);
  return () => {
    const at = sources.indexOf(source);
    if (at < 0) return;
    sources.splice(at, 1);
    if (sources.length > 0) return;
    registered.remove();
    if (known.get(family) === registered) known.delete(family);
  };
}

const METHODS = ['registerMetric', 'getSingleMetric', 'removeSingleMetric'];

function defaultRegistry(): PrometheusRegistry {
  try {
    const path = resolvePackage('prom-client');
    if (path === undefined) throw new Error(`no package of this name was found from ${searchedFolders().join(', ')}`);
    return requireFile<{ register: PrometheusRegistry }>(path).register;
  } catch (error) {
    throw MetricsError.refused('loader of prom-client', error);
  }
}
