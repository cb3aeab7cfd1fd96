import type { Metric, Samples } from './metric.ts';

/** The metrics of a kind of source. */
export interface MetricFamily {
  /** In error messages. */
  readonly what: string;
  /** The label of a source's name. */
  readonly label: string;
  readonly metrics: readonly Metric[];
}

/** What a registry or a meter gets its values from: a scheduler, or durable timers. */
export class MetricSource {
  readonly family: MetricFamily;
  /** Distinguishes sources: each is exported to a place once. */
  readonly subject: object;
  /** `options.name` */
  readonly name: string | undefined;
  private readonly collect: () => Promise<Samples>;
  private reading: Promise<Samples> | undefined;

  /** `collect` never rejects. */
  constructor(family: MetricFamily, subject: object, name: string | undefined, collect: () => Promise<Samples>) {
    this.family = family;
    this.subject = subject;
    this.name = name;
    this.collect = collect;
  }

  /** Reads all metrics, once for all that are requested in one synchronous step. */
  read(): Promise<Samples> {
    this.reading ??= this.collect().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }
}
