import { type Lateness, LatenessHistogram } from '../metrics/lateness-histogram.ts';

/** Of labels without a delivery: nobody records here. */
const NONE = new LatenessHistogram();

/** A name that timers of a kind go by: what is counted of them, and how far they are scaled. */
export class Label {
  readonly name: string;
  /** The least that a scaled timer is given, ms; undefined where timers of this label are not scaled. */
  readonly min: number | undefined;
  /** How much of the time beyond the minimum scaled timers are given, from 0 to 1. */
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

  /** A timer has been delivered, this late, ms. The first makes the histogram: most labels of a program that has many are seldom used. */
  deliver(lateness: number): void {
    this.histogram ??= new LatenessHistogram();
    this.histogram.record(lateness);
    this.delivered += 1;
  }

  /** Of the timers delivered. */
  get lateness(): Lateness {
    return (this.histogram ?? NONE).summary();
  }

  /**
   * When a timer is due, by the factor of now: not before `earliest`, unless that lies beyond `full`, and not after `full`, ms.
   * Linear between them, as the scaled timers of Envoy's overload manager.
   */
  deadlineOf(earliest: number, full: number): number {
    if (this.factor === 1 || full <= earliest) return full;
    return Math.min(full, earliest + (full - earliest) * this.factor);
  }
}
