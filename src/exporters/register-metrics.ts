import type { Registry, RegistryContentType } from 'prom-client';
import { InvalidArgumentError } from '../errors.ts';
import { requireFile, resolvePackage, searchedFolders } from '../package-files.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { internalsOf } from '../scheduler/timer-calls.ts';
import { type Exported, newExported } from './exported.ts';
import { type ExporterOptions, resolveExporterOptions } from './exporter-options.ts';
import { metrics } from './metric-table.ts';
import { MetricsError } from './metrics-error.ts';
import { PrometheusMetric } from './prometheus-metric.ts';

/** The part of a registry that is used. */
type AnyRegistry = Pick<
  Registry<RegistryContentType>,
  'registerMetric' | 'getSingleMetric' | 'removeSingleMetric' | 'getMetricsAsArray'
>;

/** A registry's metrics of all of its schedulers: a name can be registered once. */
class RegistryMetrics {
  readonly exported: Exported[] = [];
  private readonly registry: AnyRegistry;
  private readonly metrics = metrics.map((metric) => new PrometheusMetric(metric, this.exported));

  constructor(registry: AnyRegistry) {
    this.registry = registry;
  }

  /** The program may have cleared the registry. */
  get isRegistered(): boolean {
    return this.metrics.every((metric) => this.isOurs(metric));
  }

  /** Registers all metrics or none. Throws MetricsError. */
  register(): void {
    try {
      for (const metric of this.metrics) this.registry.registerMetric(metric.asRegistered());
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
    return (this.registry.getSingleMetric(metric.key) as unknown) === metric;
  }
}

const registries = new WeakMap<AnyRegistry, RegistryMetrics>();

/**
 * Registers a scheduler's metrics with a registry of prom-client 15; by default with prom-client's own, which is then loaded.
 * docs/metrics.md lists them. Each scrape reads the scheduler once; between scrapes nothing is done. After `close()` the last
 * counts are still reported. So the registry holds the scheduler until the returned function is called, which removes the
 * metrics.
 * @throws MetricsError if they are already registered, or the registry throws; then nothing is registered. InvalidArgumentError,
 * InvalidConfigError.
 */
export function registerMetrics(
  scheduler: Scheduler,
  registry?: Registry<RegistryContentType>,
  options?: ExporterOptions,
): () => void {
  const { coordinator } = internalsOf(scheduler);
  const resolved = resolveExporterOptions(options);
  const chosen = requireRegistry(registry ?? defaultRegistry());
  const known = registries.get(chosen);
  const isNew = known === undefined || !known.isRegistered;
  const registered = isNew ? new RegistryMetrics(chosen) : known;
  const exported = newExported('registry', registered.exported, coordinator, resolved);
  if (isNew) {
    registered.register();
    registries.set(chosen, registered);
  }
  registered.exported.push(exported);
  return () => {
    const at = registered.exported.indexOf(exported);
    if (at < 0) return;
    registered.exported.splice(at, 1);
    if (registered.exported.length > 0) return;
    registered.remove();
    if (registries.get(chosen) === registered) registries.delete(chosen);
  };
}

function requireRegistry(registry: unknown): AnyRegistry {
  const isRegistry = ['registerMetric', 'getSingleMetric', 'removeSingleMetric'].every(
    (name) => typeof (registry as Record<string, unknown> | null)?.[name] === 'function',
  );
  if (!isRegistry) throw new InvalidArgumentError('registry', 'must be a Registry of prom-client', registry);
  return registry as AnyRegistry;
}

function defaultRegistry(): unknown {
  try {
    const path = resolvePackage('prom-client');
    if (path === undefined) throw new Error(`no package of this name was found from ${searchedFolders().join(', ')}`);
    return requireFile<{ register: unknown }>(path).register;
  } catch (error) {
    throw MetricsError.refused('loader of prom-client', error);
  }
}
