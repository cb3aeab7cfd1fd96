import { type Lateness, LatenessHistogram } from '../metrics/lateness-histogram.ts';

/** For labels without a delivery: nothing is recorded here. */
const NONE = new LatenessHistogram();

/** A kind of timers: its name, its settings, its counts. The settings are fixed, so the due tick of each timer rises with its deadline. */
export class Label {
  readonly name: string;
  /** The minimum of scaled timers, in ms; undefined if timers of this label are not scaled. */
  readonly min: number | undefined;
  /** How many ticks its timers may come after the tick of their deadlines. */
  readonly slack: number;
  /** Its number among the labels of its client. */
  readonly code: number;
  /** The share of the time beyond the minimum that scaled timers get, from 0 to 1. */
  factor = 1;
  /** Live timers. */
  size = 0;
  scheduled = 0;
  delivered = 0;
  /** Deliveries after which the timer lived on, since it repeats. */
  repeated = 0;
  private histogram: LatenessHistogram | undefined;

  constructor(name: string, code: number, min: number | undefined, slack: number) {
    this.name = name;
    this.code = code;
    this.min = min;
    this.slack = slack;
  }

  get cancelled(): number {
    return this.scheduled - (this.delivered - this.repeated) - this.size;
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
