import type { Aggregator } from 'prom-client';
import { type Metric, partsOf, type Sample } from './metric.ts';
import type { MetricSource } from './metric-source.ts';

/** A line of an exposition, as prom-client's own metrics return it. */
interface Line {
  readonly labels: Record<string, string>;
  /** One object for several lines: its text is made once. */
  readonly sharedLabels?: Record<string, string>;
  readonly value: number;
  readonly metricName?: string;
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** How the values of a cluster's processes become one. */
const AGGREGATORS: Readonly<Record<Metric['kind'], Aggregator>> = {
  counter: 'sum',
  amount: 'sum',
  histogram: 'sum',
  state: 'max',
  share: 'min',
};

/** Names a metric by the conventions of Prometheus: the unit, then `total` for counters. */
export function prometheusName({ name, unit, kind }: Metric): string {
  const total = kind === 'counter' ? '_total' : '';
  return `shardwheel_${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}${total}`;
}

/**
 * A metric whose values are computed when a registry asks for them: only the methods that a registry needs.
 * prom-client's own classes add up what they are given; their histogram cannot be given its buckets.
 */
export class PrometheusMetric {
  /** A registry of the OpenMetrics format takes `_total` away from it. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  /** The key in a registry. */
  readonly key: string;
  readonly #metric: Metric;
  readonly #sources: readonly MetricSource[];

  constructor(metric: Metric, sources: readonly MetricSource[]) {
    this.key = prometheusName(metric);
    this.name = this.key;
    this.help = metric.help;
    this.type = metric.kind === 'counter' || metric.kind === 'histogram' ? metric.kind : 'gauge';
    this.aggregator = AGGREGATORS[metric.kind];
    this.#metric = metric;
    this.#sources = sources;
  }

  /** Called by later versions of prom-client only: takes two thirds of the time of a text otherwise. */
  async getForPromString() {
    const { aggregator, help, name, type } = this;
    const all = this.#sources.map(async (source) => {
      const constant = source.name === undefined ? undefined : { [source.family.label]: source.name };
      const samples = (await source.read()).get(this.#metric) ?? [];
      return samples.flatMap((sample) => linesOf(this.key, { ...constant, ...sample.labels }, sample.value));
    });
    return { aggregator, help, name, type, values: (await Promise.all(all)).flat() };
  }

  async get() {
    const { values, ...metric } = await this.getForPromString();
    const flat = values.map(({ sharedLabels, labels, ...line }) => ({
      ...line,
      labels: { ...sharedLabels, ...labels },
    }));
    return { ...metric, values: flat };
  }

  /** Called by `resetMetrics()` of a registry. Does nothing: the counts belong to the scheduler. */
  reset(): void {}
}

function linesOf(name: string, labels: Record<string, string>, value: Sample['value']): Line[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return [{ labels, value }];
  return partsOf(value).map(({ part, value, bound }) => {
    return { metricName: `${name}_${part}`, labels: bound as Line['labels'], sharedLabels: labels, value };
  });
}
