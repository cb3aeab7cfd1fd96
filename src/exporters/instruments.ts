import type { Meter, Observable } from '@opentelemetry/api';
import { MetricsError } from './exported.ts';
import type { HistogramPart, Metric } from './metric.ts';

/** What observes a metric, or a part of a histogram. */
export interface Instrument {
  readonly metric: Metric;
  readonly part: HistogramPart['part'] | undefined;
  readonly observable: Observable;
}

const creates = {
  counter: 'createObservableCounter',
  amount: 'createObservableUpDownCounter',
  state: 'createObservableGauge',
} as const;

/** Returns the instruments of metrics. Throws MetricsError. */
export function instrumentsOf(meter: Meter, metrics: readonly Metric[]): readonly Instrument[] {
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
