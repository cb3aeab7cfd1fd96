import type { Lateness } from '../../metrics/lateness-histogram.ts';

/** A metric, for both exporters. docs/operate.md shows the same tables; a test compares them. */
export interface Metric {
  /** The name in OpenTelemetry, without `shardwheel.` */
  readonly name: string;
  /**
   * An amount can be summed over its labels, a state cannot. A share is a state from 0 to 1, and 1 where all is as it
   * should be: of several the least counts.
   */
  readonly kind: 'counter' | 'amount' | 'state' | 'share' | 'histogram';
  /** In UCUM, as in OpenTelemetry: s, By, or the counted thing in braces. Empty for none. */
  readonly unit: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Undefined if it is not known now, or does not apply. */
type Value = number | Lateness | undefined;

/** A value of a metric, without the labels that all metrics of a scheduler have. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: Value;
}

export type Samples = ReadonlyMap<Metric, readonly Sample[]>;

/** The properties that are values. */
type Key<Subject> = { [K in keyof Subject]-?: Subject[K] extends Value ? K : never }[keyof Subject];

type Described<Name> = readonly [name: Name, kind: Metric['kind'], unit: string, help: string];

/** A metric, and its value: the property of its name, another one of the subject, or computed. */
export type Row<Subject> =
  | Described<Key<Subject>>
  | readonly [...Described<string>, of: Key<Subject> | ((subject: Subject) => Value)];

/** Metrics with the same labels, of the same subjects: of all shards, say. */
export interface MetricGroup<Reading> {
  readonly metrics: readonly Metric[];
  readonly read: (reading: Reading) => readonly [Metric, readonly Sample[]][];
}

/** `prefix`: of all names; `subjects`: those that exist now, with their labels. */
export function metricGroup<Reading, Subject>(
  prefix: string,
  labels: readonly string[],
  rows: readonly Row<Subject>[],
  subjects: (reading: Reading) => readonly { labels: Sample['labels']; subject: Subject }[],
): MetricGroup<Reading> {
  const metrics = rows.map(
    ([name, kind, unit, help]): Metric => ({ name: `${prefix}${String(name)}`, kind, unit, help, labels }),
  );
  const samples = (reading: Reading): [Metric, Sample[]][] => {
    const present = subjects(reading);
    return rows.map(([name, , , , of = name as Key<Subject>], row) => {
      const read = typeof of === 'function' ? of : (subject: Subject) => subject[of] as Value;
      return [metrics[row], present.map(({ labels, subject }) => ({ labels, value: read(subject) }))];
    });
  };
  return { metrics, read: samples };
}

/** The values of all metrics of the groups. */
export const samplesOf = <Reading>(groups: readonly MetricGroup<Reading>[], reading: Reading): Samples =>
  new Map(groups.flatMap(({ read }) => read(reading)));

/** A part of a histogram, as both formats have it, in s. */
export interface HistogramPart {
  readonly part: 'bucket' | 'sum' | 'count';
  readonly value: number;
  /** The bound of a bucket. */
  readonly bound: { readonly le?: string };
}

export function partsOf({ buckets, count, sum }: Lateness): HistogramPart[] {
  const boundOf = (upTo: number) => ({ le: upTo === Number.POSITIVE_INFINITY ? '+Inf' : `${upTo / 1000}` });
  return [
    ...buckets.map(({ upTo, count }) => ({ part: 'bucket' as const, value: count, bound: boundOf(upTo) })),
    { part: 'sum', value: sum / 1000, bound: {} },
    { part: 'count', value: count, bound: {} },
  ];
}
