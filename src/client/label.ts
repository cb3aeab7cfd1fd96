import { type Lateness, LatenessHistogram } from '../metrics/lateness-histogram.ts';

/** For labels without a delivery: nothing is recorded here. */
const NONE = new LatenessHistogram();

/** The name of a kind of timers, with their counts and their scale. */
export class Label {
  readonly name: string;
  /** The minimum of scaled timers, in ms; undefined if timers of this label are not scaled. */
  readonly min: number | undefined;
  /** The share of the time beyond the minimum that scaled timers get, from 0 to 1. */
  factor = 1;
  /** Live timers. */
  size = 0;
  scheduled = 0;
  delivered = 0;
  private histogram: LatenessHistogram | undefined;

  constructor(name: string, min: number | undefined) {
    this.name = name;
    this.min = min;
  }

  /**
   * Counts a delivery, with its lateness in ms. The first one creates the histogram: a program with many labels seldom uses most
   * of them.
   */
  deliver(lateness: number): void {
    this.prepare().record(lateness);
    this.delivered += 1;
  }

  /** Makes the histogram now, for callers whose deliveries must not be refused memory. */
  prepare(): LatenessHistogram {
    this.histogram ??= new LatenessHistogram();
    return this.histogram;
  }

  /** The lateness of delivered timers. */
  get lateness(): Lateness {
    return (this.histogram ?? NONE).summary();
  }

  /**
   * When a timer is due by the present factor: not before `earliest`, unless that lies beyond `full`, and not after `full`, in
   * ms. Linear between them, like the scaled timers of Envoy's overload manager.
   */
  deadlineOf(earliest: number, full: number): number {
    if (this.factor === 1 || full <= earliest) return full;
    return Math.min(full, earliest + (full - earliest) * this.factor);
  }
}
