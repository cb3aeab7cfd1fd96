import type { Aggregator, Metric as ClientMetric } from 'prom-client';
import type { Exported } from './exported.ts';
import type { Metric, Sample } from './metric.ts';

/** A line of an exposition, as prom-client's own metrics return it. */
interface Line {
  readonly labels: Record<string, string>;
  /** One object for several lines: its text is made once. */
  readonly sharedLabels?: Record<string, string>;
  readonly value: number;
  readonly metricName?: string;
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** Names a metric by the conventions of Prometheus: the unit, then `total` for counters. */
export function prometheusName({ name, unit, kind }: Metric): string {
  const total = kind === 'counter' ? '_total' : '';
  return `shardwheel_${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}${total}`;
}

/** The label of a bound in ms, in s. */
export const bucketLabel = (upTo: number): string => (upTo === Number.POSITIVE_INFINITY ? '+Inf' : `${upTo / 1000}`);

/**
 * A metric whose values are computed when a registry asks for them: only the methods that a registry needs. prom-client's own
 * classes add up what they are given; their histogram cannot be given its buckets.
 */
export class PrometheusMetric {
  /** A registry of the OpenMetrics format takes `_total` away from it. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How the values of a cluster's workers are combined. */
  readonly aggregator: Aggregator;
  /** The key in a registry. */
  readonly key: string;
  readonly #metric: Metric;
  readonly #label: string;
  readonly #exported: readonly Exported[];

  /** `label`: of a source's name. */
  constructor(metric: Metric, label: string, exported: readonly Exported[]) {
    this.key = prometheusName(metric);
    this.name = this.key;
    this.help = metric.help;
    this.type = metric.kind === 'counter' || metric.kind === 'histogram' ? metric.kind : 'gauge';
    this.aggregator = metric.kind === 'state' ? 'max' : 'sum';
    this.#metric = metric;
    this.#label = label;
    this.#exported = exported;
  }

  /** prom-client's types accept only its own classes. */
  asRegistered(): ClientMetric {
    return this as unknown as ClientMetric;
  }

  /** Called by later versions of prom-client only: takes two thirds of the time of a text otherwise. */
  async getForPromString() {
    const { aggregator, help, name, type } = this;
    const all = this.#exported.map(async ({ name, source }) => {
      const constant = name === undefined ? undefined : { [this.#label]: name };
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
  const { buckets, count, sum } = value;
  const line = (part: string, value: number, own: Line['labels'] = {}): Line => {
    return { metricName: `${name}_${part}`, labels: own, sharedLabels: labels, value };
  };
  const lines = buckets.map(({ upTo, count }) => line('bucket', count, { le: bucketLabel(upTo) }));
  return [...lines, line('sum', sum / 1000), line('count', count)];
}
