import { MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { expect } from 'vitest';
import type { Family, Line } from './exposition.ts';

/** A reader that collects when it is told to. */
class HandReader extends MetricReader {
  constructor(limit: number | undefined) {
    super(limit === undefined ? {} : { cardinalitySelector: () => limit });
  }

  protected async onForceFlush(): Promise<void> {}

  protected async onShutdown(): Promise<void> {}
}

/** A provider of meters, and what a reader of it collects, which takes so many series of a metric; 2,000 where nothing is said. */
export function newProvider(readers = 1, limit?: number) {
  const all = Array.from({ length: readers }, () => new HandReader(limit));
  const provider = new MeterProvider({ readers: all });
  const collect = async (reader = 0): Promise<ResourceMetrics> => {
    const { resourceMetrics, errors } = await all[reader].collect();
    expect(errors).toEqual([]);
    return resourceMetrics;
  };
  return { provider, collect };
}

export interface Point extends Line {
  readonly unit: string;
}

/** All points that were collected. */
export const pointsOf = ({ scopeMetrics }: ResourceMetrics): Point[] =>
  scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ descriptor: { name, unit }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => {
        return { name, unit, labels: attributes as Record<string, string>, value: value as number };
      }),
    ),
  );

/** The SDK adds up differences: its last digits may be others. */
const seriesOf = ({ name, labels, value }: Line): string =>
  `${name}{${Object.entries(labels)
    .map(([label, text]) => `${label.replace(/^shardwheel\./, '')}=${text}`)
    .sort()}} ${Number(value.toPrecision(12))}`;

/** What docs/operate.md says of the names: those of Prometheus, from those of OpenTelemetry. */
function prometheusName(name: string, unit: string, type: string): string {
  const [, stem, part = ''] = /^(.*?)(\.bucket|\.sum|\.count)?$/.exec(name) as RegExpExecArray;
  const suffix = part === '' ? { s: '_seconds', By: '_bytes' }[unit] : '_seconds';
  return `${stem}${suffix ?? ''}${part}${type === 'counter' ? '_total' : ''}`.replaceAll('.', '_');
}

/** Every series that was collected is in the exposition under its other name, with its value, and there are no others. */
export function expectSameSeries(collected: ResourceMetrics, families: Map<string, Family>): void {
  const lines = [...families.values()].flatMap(({ lines }) => lines);
  const points = pointsOf(collected).map((point) => {
    const plain = prometheusName(point.name, point.unit, '');
    const name = families.has(`${plain}_total`) ? `${plain}_total` : plain;
    return { ...point, name };
  });
  expect(points.map(seriesOf).sort()).toEqual(lines.map(seriesOf).sort());
}
