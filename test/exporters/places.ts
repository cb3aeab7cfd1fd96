import { MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import type { Scheduler } from 'shardwheel';
import type { DurableTimers } from 'shardwheel/durable';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { type ExporterOptions, registerMetrics } from 'shardwheel/prometheus';
import { expect } from 'vitest';
import { familiesOf, type Line, scrape } from './exposition.ts';

/** Where metrics are exported to, and what is read there: in the names of Prometheus, whatever the format. */
export interface Place {
  /** Returns what ends it. */
  add(exported: Scheduler | DurableTimers, options?: ExporterOptions): () => void;
  read(): Promise<Line[]>;
}

export class PrometheusPlace implements Place {
  readonly registry = new Registry();

  add(exported: Scheduler | DurableTimers, options?: ExporterOptions): () => void {
    return registerMetrics(exported, this.registry, options);
  }

  async read(): Promise<Line[]> {
    return linesOf(await scrape(this.registry));
  }
}

export const linesOf = (text: string): Line[] => [...familiesOf(text).values()].flatMap(({ lines }) => lines);

/** A reader that collects when it is told to. */
class HandReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}

  protected async onShutdown(): Promise<void> {}
}

export class OpenTelemetryPlace implements Place {
  private readonly readers: HandReader[];
  readonly meter;

  /** `limit`: the series of a metric that each reader takes; by default the SDK's 2,000. */
  constructor({ readers = 1, limit }: { readers?: number; limit?: number } = {}) {
    const options = limit === undefined ? {} : { cardinalitySelector: () => limit };
    this.readers = Array.from({ length: readers }, () => new HandReader(options));
    this.meter = new MeterProvider({ readers: this.readers }).getMeter('test');
  }

  add(exported: Scheduler | DurableTimers, options?: ExporterOptions): () => void {
    return observeMetrics(exported, this.meter, options);
  }

  async read(reader = 0): Promise<Line[]> {
    const { resourceMetrics, errors } = await this.readers[reader].collect();
    expect(errors).toEqual([]);
    return collectedLines(resourceMetrics);
  }
}

export const places = { Prometheus: () => new PrometheusPlace(), OpenTelemetry: () => new OpenTelemetryPlace() };

/**
 * All points that were collected, by the other names that docs/operate.md tells. The SDK adds up: its last digits may
 * be others.
 */
export const collectedLines = ({ scopeMetrics }: ResourceMetrics): Line[] =>
  scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ descriptor: { name, unit }, dataPoints, ...metric }) => {
      const [, stem, part = ''] = /^(.*?)(\.bucket|\.sum|\.count)?$/.exec(name) as RegExpExecArray;
      const suffix = part === '' ? { s: '_seconds', By: '_bytes' }[unit] : '_seconds';
      const isCounter = 'isMonotonic' in metric && metric.isMonotonic;
      const total = part === '' && isCounter ? '_total' : '';
      return dataPoints.map(({ attributes, value }) => ({
        name: `${stem}${suffix ?? ''}${part}${total}`.replaceAll('.', '_'),
        labels: Object.fromEntries(
          Object.entries(attributes).map(([label, text]) => [label.replace(/^shardwheel\./, ''), `${text}`]),
        ),
        value: Number((value as number).toPrecision(12)),
      }));
    }),
  );

/** Both have the same series, with the same values. */
export function expectSameLines(some: readonly Line[], others: readonly Line[]): void {
  const textOf = ({ name, labels, value }: Line) =>
    `${name} ${JSON.stringify(Object.entries(labels).sort())} ${Number(value.toPrecision(12))}`;
  expect(some.map(textOf).sort()).toEqual(others.map(textOf).sort());
}
