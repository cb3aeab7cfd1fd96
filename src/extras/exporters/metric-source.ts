import { requireScheduler } from '../../own-copy.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { show } from '../../show.ts';
import { statsSourceOf } from '../durable/durable-stats.ts';
import { durableGroups } from './durable-metrics.ts';
import { type ExporterOptions, MetricsError, resolveExporterOptions } from './exported.ts';
import { type Metric, type MetricGroup, type Samples, samplesOf } from './metric.ts';
import { schedulerGroups } from './scheduler-metrics.ts';

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

/** Throws MetricsError if the source or its name is already in `there`. */
export function requireNew(
  where: string,
  there: readonly MetricSource[],
  { family, name, subject }: MetricSource,
): void {
  const refuse = (why: string) => new MetricsError('ERR_METRICS_REGISTERED', `The metrics of ${why}`);
  if (there.some((other) => other.subject === subject)) throw refuse(`the ${family.what} are in this ${where} already`);
  if (there.some((other) => other.name === name)) {
    const how = name === undefined ? 'without options.name' : `with options.name ${show(name)}`;
    throw refuse(`another ${family.what} are in this ${where} ${how}; options.name distinguishes them, as a label`);
  }
}

const familyOf = (what: string, label: string, groups: readonly MetricGroup<never>[]): MetricFamily => {
  return { what, label, metrics: groups.flatMap(({ metrics }) => metrics) };
};

const schedulers = familyOf('scheduler', 'scheduler', schedulerGroups);
const durable = familyOf('durable timers', 'durable', durableGroups);

export const families: readonly MetricFamily[] = [schedulers, durable];

/**
 * Returns the metrics of a scheduler, or of durable timers. Throws InvalidArgumentError, also if it is neither, and
 * InvalidConfigError.
 */
export function sourceOf(exported: unknown, options: ExporterOptions | undefined): MetricSource {
  const { name, timeout } = resolveExporterOptions(options);
  const stats = statsSourceOf(exported);
  if (stats !== undefined) {
    return new MetricSource(durable, exported as object, name, async () => samplesOf(durableGroups, await stats()));
  }
  requireScheduler(exported);
  const scheduler = exported as Scheduler;
  const collect = async () => samplesOf(schedulerGroups, await scheduler.stats({ timeout }));
  return new MetricSource(schedulers, scheduler, name, collect);
}
