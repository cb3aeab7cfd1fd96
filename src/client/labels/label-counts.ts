import { type Lateness, LatenessHistogram } from '../../metrics/lateness-histogram.ts';
import type { Client } from '../client.ts';
import { DROP_IN } from '../home/home-timers.ts';
import type { Label } from './slot-labels.ts';

/** The counts of timers with a label. */
export interface LabelStats {
  label: string;
  /** The minimum of scaled timers in ms; undefined if they are not scaled. Of several clients: the least. */
  min: number | undefined;
  /** The share of the time beyond the minimum that scaled timers get now: 0 to 1. Of several clients: the least. */
  factor: number;
  /** Live timers now. */
  size: number;
  scheduled: number;
  cancelled: number;
  delivered: number;
  lateness: Lateness;
}

/** The counts of a client's label, as another thread is told of them. @internal */
export interface ReportedLabel extends Omit<LabelStats, 'lateness'> {
  /** See `LatenessHistogram.sparse`. */
  latenesses: readonly number[];
  /** The largest lateness in ms. */
  latest: number;
}

/** The labels in use, and that of drop-in timers once there has been one. */
const labelsOf = ({ registry, home }: Client): readonly Label[] =>
  home.label.scheduled === 0 ? registry.all : [...registry.all, home.label];

/** How many labels `labelCounts` reports. @internal */
export const labelCount = ({ registry, home }: Client): number => registry.count + (home.label.scheduled === 0 ? 0 : 1);

/** The counts of a client's labels, in the order of their first use; last its drop-in timers. @internal */
export const labelCounts = (client: Client): ReportedLabel[] =>
  labelsOf(client).map(({ name, min, factor, size, scheduled, cancelled, delivered, lateness }) => ({
    label: name,
    min,
    factor,
    size: client.isClosed ? 0 : size,
    scheduled,
    cancelled,
    delivered,
    latenesses: lateness.sparse(),
    latest: lateness.max,
  }));

/** The counts of a client's labels, in the same order. @internal */
export const ownLabelStats = (client: Client): LabelStats[] =>
  labelsOf(client).map(({ name: label, min, factor, size, scheduled, cancelled, delivered, lateness }) => {
    const live = client.isClosed ? 0 : size;
    return { label, min, factor, size: live, scheduled, cancelled, delivered, lateness: lateness.summary() };
  });

/** Sums the counts of clients by label; of one client alone, shows them. Drop-in timers stay last. @internal */
export function labelStats(reported: readonly ReportedLabel[]): LabelStats[] {
  const sums = new Map<string, LabelSum>();
  for (const one of reported) {
    const sum = sums.get(one.label);
    if (sum === undefined) sums.set(one.label, new LabelSum(one));
    else sum.add(one);
  }
  const all = [...sums.values()].map((sum) => sum.stats());
  return [...all.filter(({ label }) => label !== DROP_IN), ...all.filter(({ label }) => label === DROP_IN)];
}

/** A label of several clients. */
class LabelSum {
  private readonly sum: Omit<LabelStats, 'lateness'>;
  private readonly lateness = new LatenessHistogram();

  constructor({ latenesses, latest, ...counts }: ReportedLabel) {
    this.sum = counts;
    this.lateness.add(latenesses, latest);
  }

  add({ min, factor, size, scheduled, cancelled, delivered, latenesses, latest }: ReportedLabel): void {
    const { sum } = this;
    if (min !== undefined) {
      // Only scaled timers have a factor.
      sum.factor = sum.min === undefined ? factor : Math.min(sum.factor, factor);
      sum.min = Math.min(sum.min ?? min, min);
    }
    sum.size += size;
    sum.scheduled += scheduled;
    sum.cancelled += cancelled;
    sum.delivered += delivered;
    this.lateness.add(latenesses, latest);
  }

  stats(): LabelStats {
    return { ...this.sum, lateness: this.lateness.summary() };
  }
}
