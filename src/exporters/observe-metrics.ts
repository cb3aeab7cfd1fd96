import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { DurableStatsSource } from '../durable/durable-stats.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { type Exported, type ExporterOptions, MetricsError, newExported, resolveExporterOptions } from './exported.ts';
import { type Instrument, instrumentsOf } from './instruments.ts';
import type { MetricFamily, Sample } from './metric.ts';
import { sourceOf } from './sources.ts';

/** The metrics of a family in a meter: an instrument of one name is created once, for all sources. */
interface MeterMetrics {
  readonly instruments: readonly Instrument[];
  readonly exported: Exported[];
}

/** The part of a `Meter` of `@opentelemetry/api` that is used, written out: programs without that package compile. */
export interface OpenTelemetryMeter {
  createObservableCounter(name: string, options?: never): unknown;
  createObservableGauge(name: string, options?: never): unknown;
  createObservableUpDownCounter(name: string, options?: never): unknown;
  addBatchObservableCallback(callback: never, observables: never): void;
  removeBatchObservableCallback(callback: never, observables: never): void;
}

const meters = new WeakMap<Meter, Map<MetricFamily, MeterMetrics>>();

/**
 * Observes the metrics of a scheduler, or of durable timers, by a meter of `@opentelemetry/api`; docs/operate.md lists them. Each collection reads it
 * once; between collections nothing is done. After `close()` the last counts are still observed. So the meter holds
 * it until the returned function is called, which ends the observation.
 * @throws MetricsError if the meter already observes it, or throws; then nothing is observed. InvalidArgumentError,
 * InvalidConfigError.
 */
export function observeMetrics(
  exported: Scheduler | DurableStatsSource,
  given: OpenTelemetryMeter,
  options?: ExporterOptions,
): () => void {
  const resolved = resolveExporterOptions(options);
  const { family, source } = sourceOf(exported, resolved);
  const meter = requireMeter(given);
  const known = meters.get(meter) ?? new Map<MetricFamily, MeterMetrics>();
  const metrics = known.get(family) ?? { instruments: instrumentsOf(meter, family.metrics), exported: [] };
  const { exported: there, instruments } = metrics;
  const one = newExported('meter', there, family, source, resolved);
  const observed = new ObservedSource(instruments, family.label, one);
  const observables = instruments.map(({ observable }) => observable);
  try {
    meter.addBatchObservableCallback(observed.observe, observables);
  } catch (error) {
    throw MetricsError.refused('meter', error);
  }
  known.set(family, metrics);
  meters.set(meter, known);
  there.push(one);
  return () => {
    const at = there.indexOf(one);
    if (at < 0) return;
    there.splice(at, 1);
    meter.removeBatchObservableCallback(observed.observe, observables);
  };
}

/** An amount or a state that has been observed. */
interface Series {
  readonly observable: Observable;
  readonly attributes: Attributes;
}

class ObservedSource {
  private readonly instruments: readonly Instrument[];
  private readonly label: string;
  private readonly exported: Exported;
  private series = new Map<string, Series>();

  /** `label`: of the source's name. */
  constructor(instruments: readonly Instrument[], label: string, exported: Exported) {
    this.instruments = instruments;
    this.label = label;
    this.exported = exported;
  }

  /** Never rejects. */
  readonly observe = async (result: BatchObservableResult): Promise<void> => {
    const { name, source } = this.exported;
    const samples = await source.read();
    const constant = name === undefined ? undefined : { [`shardwheel.${this.label}`]: name };
    const series = new Map<string, Series>();
    for (const { metric, observable, observe } of this.instruments) {
      const canVanish = metric.kind === 'amount' || metric.kind === 'state';
      for (const { labels, value } of samples.get(metric) ?? []) {
        const attributes = { ...constant, ...attributesOf(labels) };
        if (value !== undefined) observe(result, value, attributes);
        if (canVanish) series.set(`${metric.name} ${JSON.stringify(attributes)}`, { observable, attributes });
      }
    }
    // The SDK goes on reporting the last value of a series that is no longer observed, such as a client that has left.
    for (const [key, { observable, attributes }] of this.series) {
      if (!series.has(key)) result.observe(observable, 0, attributes);
    }
    this.series = series;
  };
}

const attributesOf = (labels: Sample['labels']): Attributes =>
  Object.fromEntries(Object.entries(labels).map(([label, value]) => [`shardwheel.${label}`, value]));

function requireMeter(meter: unknown): Meter {
  const isMeter = ['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback'].every(
    (name) => typeof (meter as Record<string, unknown> | null)?.[name] === 'function',
  );
  if (!isMeter) throw new InvalidArgumentError('meter', 'must be a Meter of @opentelemetry/api', meter);
  return meter as Meter;
}
