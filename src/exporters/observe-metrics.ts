import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import { InvalidArgumentError } from '../errors.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { internalsOf } from '../scheduler/timer-calls.ts';
import { type Exported, newExported } from './exported.ts';
import { type ExporterOptions, resolveExporterOptions } from './exporter-options.ts';
import { type Instrument, instrumentsOf } from './instruments.ts';
import type { Sample } from './metric-table.ts';
import { MetricsError } from './metrics-error.ts';

/** The metrics of a meter: an instrument of one name is created once, for all schedulers. */
interface MeterMetrics {
  readonly instruments: readonly Instrument[];
  readonly exported: Exported[];
}

const meters = new WeakMap<Meter, MeterMetrics>();

/**
 * Observes a scheduler's metrics by a meter of `@opentelemetry/api`; docs/metrics.md lists them. Each collection reads the
 * scheduler once; between collections nothing is done. After `close()` the last counts are still observed. So the meter holds the
 * scheduler until the returned function is called, which ends the observation.
 * @throws MetricsError if the meter already observes the scheduler, or throws; then nothing is observed. InvalidArgumentError,
 * InvalidConfigError.
 */
export function observeMetrics(scheduler: Scheduler, meter: Meter, options?: ExporterOptions): () => void {
  const { coordinator } = internalsOf(scheduler);
  const resolved = resolveExporterOptions(options);
  requireMeter(meter);
  const known = meters.get(meter) ?? { instruments: instrumentsOf(meter), exported: [] };
  const { exported, instruments } = known;
  const one = newExported('meter', exported, coordinator, resolved);
  const observed = new ObservedScheduler(instruments, one);
  const observables = instruments.map(({ observable }) => observable);
  try {
    meter.addBatchObservableCallback(observed.observe, observables);
  } catch (error) {
    throw MetricsError.refused('meter', error);
  }
  meters.set(meter, known);
  exported.push(one);
  return () => {
    const at = exported.indexOf(one);
    if (at < 0) return;
    exported.splice(at, 1);
    meter.removeBatchObservableCallback(observed.observe, observables);
  };
}

/** An amount or a state that has been observed. */
interface Series {
  readonly observable: Observable;
  readonly attributes: Attributes;
}

class ObservedScheduler {
  private readonly instruments: readonly Instrument[];
  private readonly exported: Exported;
  private series = new Map<string, Series>();

  constructor(instruments: readonly Instrument[], exported: Exported) {
    this.instruments = instruments;
    this.exported = exported;
  }

  /** Never rejects. */
  readonly observe = async (result: BatchObservableResult): Promise<void> => {
    const { name, reader } = this.exported;
    const samples = await reader.read();
    const constant = name === undefined ? undefined : { 'shardwheel.scheduler': name };
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

function requireMeter(meter: unknown): void {
  const isMeter = ['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback'].every(
    (name) => typeof (meter as Record<string, unknown> | null)?.[name] === 'function',
  );
  if (!isMeter) throw new InvalidArgumentError('meter', 'must be a Meter of @opentelemetry/api', meter);
}
