import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { Lateness } from '../metrics/lateness-histogram.ts';
import { MetricsError } from './exported.ts';
import type { Metric } from './metric.ts';
import { bucketLabel } from './prometheus-metric.ts';

/** An instrument, and what it observes of a sample. */
export interface Instrument {
  readonly metric: Metric;
  readonly observable: Observable;
  readonly observe: (result: BatchObservableResult, value: number | Lateness, attributes: Attributes) => void;
}

/** Returns the instruments of metrics. Throws MetricsError. */
export function instrumentsOf(meter: Meter, metrics: readonly Metric[]): readonly Instrument[] {
  try {
    return metrics.flatMap((metric) =>
      metric.kind === 'histogram' ? histogramOf(meter, metric) : [plainOf(meter, metric)],
    );
  } catch (error) {
    throw MetricsError.refused('meter', error);
  }
}

function plainOf(meter: Meter, metric: Metric): Instrument {
  const name = `shardwheel.${metric.name}`;
  const options = { description: metric.help, unit: metric.unit };
  const create = {
    counter: 'createObservableCounter',
    amount: 'createObservableUpDownCounter',
    state: 'createObservableGauge',
  } as const;
  const observable = meter[create[metric.kind as keyof typeof create]](name, options);
  return {
    metric,
    observable,
    observe: (result, value, attributes) => result.observe(observable, value as number, attributes),
  };
}

/** Creates three counters, as there is no observable histogram: those that Prometheus makes of one. */
function histogramOf(meter: Meter, metric: Metric): Instrument[] {
  const counter = (part: string, description: string, unit: string) =>
    meter.createObservableCounter(`shardwheel.${metric.name}.${part}`, { description, unit });
  const bucket = counter('bucket', `${metric.help}: deliveries that were at most le seconds late`, '{timer}');
  const sum = counter('sum', `${metric.help}: all together`, metric.unit);
  const count = counter('count', `${metric.help}: deliveries`, '{timer}');
  return [
    {
      metric,
      observable: bucket,
      observe: (result, value, attributes) => {
        for (const { upTo, count } of (value as Lateness).buckets) {
          result.observe(bucket, count, { ...attributes, le: bucketLabel(upTo) });
        }
      },
    },
    {
      metric,
      observable: sum,
      observe: (result, value, attributes) => result.observe(sum, (value as Lateness).sum / 1000, attributes),
    },
    {
      metric,
      observable: count,
      observe: (result, value, attributes) => result.observe(count, (value as Lateness).count, attributes),
    },
  ];
}
