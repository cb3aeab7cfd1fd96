import type { Aggregator, Metric as ClientMetric } from 'prom-client';
import type { Exported } from './exported.ts';
import type { Metric, Sample } from './metric-table.ts';

/** A line of an exposition, as prom-client's own metrics return it. */
interface Line {
  readonly labels: Record<string, string>;
  /** Those of several lines, one object: they are made a text once. */
  readonly sharedLabels?: Record<string, string>;
  readonly value: number;
  readonly metricName?: string;
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** After the conventions of Prometheus: the unit, then what counts as total. */
export function prometheusName({ name, unit, kind }: Metric): string {
  const total = kind === 'counter' ? '_total' : '';
  return `shardwheel_${name.replaceAll('.', '_')}${UNITS[unit] ?? ''}${total}`;
}

/** Of a bound in ms, in s. */
export const bucketLabel = (upTo: number): string => (upTo === Number.POSITIVE_INFINITY ? '+Inf' : `${upTo / 1000}`);

/**
 * A metric whose values come to be as a registry asks for them: what a registry needs of a metric, and no more. prom-client's own
 * classes add up what they are told; a histogram of theirs cannot be given its buckets.
 */
export class PrometheusMetric {
  /** A registry of the OpenMetrics format takes `_total` away from it. */
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How a cluster's workers are put together. */
  readonly aggregator: Aggregator;
  /** What a registry knows it by. */
  readonly key: string;
  readonly #metric: Metric;
  readonly #exported: readonly Exported[];

  constructor(metric: Metric, exported: readonly Exported[]) {
    this.key = prometheusName(metric);
    this.name = this.key;
    this.help = metric.help;
    this.type = metric.kind === 'counter' || metric.kind === 'histogram' ? metric.kind : 'gauge';
    this.aggregator = metric.kind === 'state' ? 'max' : 'sum';
    this.#metric = metric;
    this.#exported = exported;
  }

  /** prom-client's types know its own classes alone. */
  asRegistered(): ClientMetric {
    return this as unknown as ClientMetric;
  }

  /** Of later versions of prom-client alone: takes two thirds of the time that a text takes otherwise. */
  async getForPromString() {
    const { aggregator, help, name, type } = this;
    const all = this.#exported.map(async ({ name, reader }) => {
      const constant = name === undefined ? undefined : { scheduler: name };
      const samples = (await reader.read()).get(this.#metric) ?? [];
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

  /** `resetMetrics()` of a registry: the counts are the scheduler's, whoever reads them. */
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
