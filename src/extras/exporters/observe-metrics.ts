import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { DurableStatsSource } from '../durable/durable-stats.ts';
import { type ExporterOptions, MetricsError, requireMethods } from './exported.ts';
import { type HistogramPart, type Metric, partsOf, type Sample } from './metric.ts';
import { type MetricFamily, type MetricSource, requireNew, sourceOf } from './metric-source.ts';

/** What observes a metric, or a part of a histogram. */
interface Instrument {
  readonly metric: Metric;
  readonly part: HistogramPart['part'] | undefined;
  readonly observable: Observable;
}

/** The metrics of a family in a meter: an instrument of one name is created once, for all sources. */
interface MeterMetrics {
  readonly instruments: readonly Instrument[];
  readonly sources: MetricSource[];
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
 * Observes the metrics of a scheduler, or of durable timers, by a meter of `@opentelemetry/api`; docs/operate.md lists
 * them. Each collection reads it once; between collections nothing is done. After `close()` its last counts, without
 * shards, are still observed. So the meter holds it until the returned function is called, which ends the observation.
 * @throws MetricsError if the meter already observes it, or throws; then nothing is observed. InvalidArgumentError,
 * InvalidConfigError.
 */
export function observeMetrics(
  exported: Scheduler | DurableStatsSource,
  given: OpenTelemetryMeter,
  options?: ExporterOptions,
): () => void {
  const source = sourceOf(exported, options);
  const { family } = source;
  requireMethods('meter', 'Meter of @opentelemetry/api', given, METHODS);
  const meter = given as Meter;
  const known = meters.get(meter) ?? new Map<MetricFamily, MeterMetrics>();
  const metrics = known.get(family) ?? { instruments: instrumentsOf(meter, family.metrics), sources: [] };
  const { instruments, sources } = metrics;
  requireNew('meter', sources, source);
  const observe = observing(instruments, source);
  const observables = instruments.map(({ observable }) => observable);
  try {
    meter.addBatchObservableCallback(observe, observables);
  } catch (error) {
    throw MetricsError.refused('meter', error);
  }
  meters.set(meter, known.set(family, metrics));
  sources.push(source);
  return () => {
    const at = sources.indexOf(source);
    if (at < 0) return;
    sources.splice(at, 1);
    meter.removeBatchObservableCallback(observe, observables);
  };
}

const METHODS = ['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback'];

const creates = {
  counter: 'createObservableCounter',
  amount: 'createObservableUpDownCounter',
  state: 'createObservableGauge',
  share: 'createObservableGauge',
} as const;

/** What a series is observed as once when its subject is gone; a counter keeps its last value. */
const GONE: Partial<Record<Metric['kind'], number>> = { amount: 0, state: 0, share: 1 };

/** Returns the instruments of metrics. Throws MetricsError. */
function instrumentsOf(meter: Meter, metrics: readonly Metric[]): readonly Instrument[] {
  try {
    return metrics.flatMap((metric): Instrument[] => {
      const { help: description, kind, name, unit } = metric;
      if (kind === 'histogram') return histogramOf(meter, metric);
      return [
        { metric, part: undefined, observable: meter[creates[kind]](`shardwheel.${name}`, { description, unit }) },
      ];
    });
  } catch (error) {
    throw MetricsError.refused('meter', error);
  }
}

/** Creates three counters, as there is no observable histogram: those that Prometheus makes of one. */
function histogramOf(meter: Meter, metric: Metric): Instrument[] {
  const counter = (part: HistogramPart['part'], says: string, unit: string): Instrument => {
    const description = `${metric.help}: ${says}`;
    const observable = meter.createObservableCounter(`shardwheel.${metric.name}.${part}`, { description, unit });
    return { metric, part, observable };
  };
  return [
    counter('bucket', 'deliveries that were at most le seconds late', '{timer}'),
    counter('sum', 'all together', metric.unit),
    counter('count', 'deliveries', '{timer}'),
  ];
}

/** What has been observed of a subject that may be gone the next time. */
interface Series {
  readonly observable: Observable;
  readonly attributes: Attributes;
  readonly gone: number;
}

/** Returns what observes a source. It never rejects. */
function observing(instruments: readonly Instrument[], source: MetricSource) {
  const { family, name } = source;
  let before = new Map<string, Series>();
  const constant = name === undefined ? undefined : { [`shardwheel.${family.label}`]: name };
  return async (result: BatchObservableResult): Promise<void> => {
    const samples = await source.read();
    const series = new Map<string, Series>();
    for (const { metric, observable, part: wanted } of instruments) {
      const gone = GONE[metric.kind];
      for (const { labels, value } of samples.get(metric) ?? []) {
        const attributes = { ...constant, ...attributesOf(labels) };
        if (typeof value === 'number') result.observe(observable, value, attributes);
        else if (value !== undefined) {
          for (const { part, value: each, bound } of partsOf(value)) {
            if (part === wanted) result.observe(observable, each, { ...attributes, ...bound });
          }
        }
        if (gone !== undefined) {
          series.set(`${metric.name} ${JSON.stringify(attributes)}`, { observable, attributes, gone });
        }
      }
    }
    // The SDK goes on reporting the last value of a series that is no longer observed, such as a client that has left.
    for (const [key, { observable, attributes, gone }] of before) {
      if (!series.has(key)) result.observe(observable, gone, attributes);
    }
    before = series;
  };
}

const attributesOf = (labels: Sample['labels']): Attributes =>
  Object.fromEntries(Object.entries(labels).map(([label, value]) => [`shardwheel.${label}`, value]));
