import type { Lateness } from '../metrics/lateness-histogram.ts';

/** A metric, for both exporters. docs/operate.md shows the same tables; a test compares them. */
export interface Metric {
  /** The name in OpenTelemetry, without `shardwheel.` */
  readonly name: string;
  /** An amount can be summed over its labels, a state cannot. */
  readonly kind: 'counter' | 'amount' | 'state' | 'histogram';
  /** In UCUM, as in OpenTelemetry: s, By, or the counted thing in braces. Empty for none. */
  readonly unit: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** A value of a metric, without the labels that all metrics of a scheduler have. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined if it is not known now. */
  readonly value: number | Lateness | undefined;
}

/** A metric, and its value; undefined if it is not known, or does not apply. */
export type Row<Subject> = readonly [
  name: string,
  kind: Metric['kind'],
  unit: string,
  help: string,
  of: (subject: Subject) => number | Lateness | undefined,
];

/** Metrics with the same labels, of the same subjects: of all shards, say. */
export interface Group<Reading, Subject> {
  readonly labels: readonly string[];
  readonly rows: readonly Row<Subject>[];
  readonly subjects: (reading: Reading) => Iterable<{ labels: Sample['labels']; subject: Subject }>;
}

/** A group whose kind of subject is of no more interest. */
export interface MetricGroup<Reading> {
  readonly metrics: readonly Metric[];
  readonly read: (reading: Reading, found: (metric: Metric, sample: Sample) => void) => void;
}

export function metricGroup<Reading, Subject>({
  labels,
  rows,
  subjects,
}: Group<Reading, Subject>): MetricGroup<Reading> {
  const metrics = rows.map(([name, kind, unit, help, of]) => {
    const metric: Metric = { name, kind, unit, help, labels };
    return { metric, of };
  });
  const read = (reading: Reading, found: (metric: Metric, sample: Sample) => void): void => {
    for (const { labels, subject } of subjects(reading)) {
      for (const { metric, of } of metrics) {
        found(metric, { labels, value: of(subject) });
      }
    }
  };
  return { metrics: metrics.map(({ metric }) => metric), read };
}

/** The values of all metrics of the groups, without subjects that no longer exist. */
export function samplesOf<Reading>(
  groups: readonly MetricGroup<Reading>[],
  reading: Reading,
): ReadonlyMap<Metric, readonly Sample[]> {
  const samples = new Map<Metric, Sample[]>(groups.flatMap(({ metrics }) => metrics.map((metric) => [metric, []])));
  for (const { read } of groups) read(reading, (metric, sample) => samples.get(metric)?.push(sample));
  return samples;
}

/** The metrics of a kind of source. */
export interface MetricFamily {
  /** In error messages. */
  readonly what: string;
  /** The label of a source's name. */
  readonly label: string;
  readonly metrics: readonly Metric[];
}

/** What a registry or a meter gets its values from: of a scheduler, or of durable timers. */
export interface MetricSource {
  /** Tells one source from another: each is exported to a place once. */
  readonly subject: object;
  /** Reads all metrics, once for all that are requested in one synchronous step. Never rejects. */
  read(): Promise<ReadonlyMap<Metric, readonly Sample[]>>;
}
