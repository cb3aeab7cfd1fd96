import { allocateSlots, doublesIn, growSlots } from '../../memory/shared-words.ts';
import { LatenessHistogram } from '../../metrics/lateness-histogram.ts';
import type { KeepAlive } from '../keep-alive.ts';

// Taken once: a program may replace them.
const { min } = Math;

/** For labels without a delivery: nothing is recorded here. */
const NONE = new LatenessHistogram();

/**
 * A kind of timers: its name, its settings, its counts. The settings are fixed, so the due tick of each timer rises
 * with its deadline.
 */
export class Label {
  readonly name: string;
  /** The minimum of scaled timers, in ms; undefined if timers of this label are not scaled. */
  readonly min: number | undefined;
  /** How many ticks its timers may come after the tick of their deadlines. */
  readonly slack: number;
  /** Whether its timers hold the process. */
  readonly ref: boolean;
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

  constructor(name: string, code: number, min: number | undefined, slack: number, ref = true) {
    this.name = name;
    this.code = code;
    this.min = min;
    this.slack = slack;
    this.ref = ref;
  }

  get cancelled(): number {
    return this.scheduled - (this.delivered - this.repeated) - this.size;
  }

  /**
   * Counts a delivery, with its lateness in ms. The first one creates the histogram: a program with many labels seldom
   * uses most of them.
   */
  deliver(lateness: number): void {
    (this.histogram ?? this.prepare()).record(lateness);
    this.delivered += 1;
  }

  /** Makes the histogram now, for callers whose deliveries must not be refused memory. */
  prepare(): LatenessHistogram {
    this.histogram ??= new LatenessHistogram();
    return this.histogram;
  }

  get lateness(): LatenessHistogram {
    return this.histogram ?? NONE;
  }

  /**
   * When a timer is due by the present factor: not before `earliest`, unless that lies beyond `full`, and not after
   * `full`, in ms. Linear between them, like the scaled timers of Envoy's overload manager. What is never due, as a
   * wait without a limit, stays so.
   */
  deadlineOf(earliest: number, full: number): number {
    if (this.factor === 1 || full <= earliest || full === Number.MAX_VALUE) return full;
    return Math.min(full, earliest + (full - earliest) * this.factor);
  }
}

/** The code of a slot whose timer has no label. */
export const NO_LABEL = 0;

/**
 * The label of each timer of a lane, by slot, and the two bounds of its deadline if it is scaled. Created when a timer
 * of the lane first has a label. Without labels the cost is one comparison when a timer ends.
 *
 *     codes    a byte per slot: its label; NO_LABEL where there is none, and where there is no timer
 *     bounds   two doubles per slot: earliest and full deadline, ms, of scaled timers
 *
 * Laid out for the whole capacity; only touched parts are resident, as with a lane's payload.
 */
export class SlotLabels {
  /** By code. */
  private readonly labels: readonly Label[];
  private readonly refs: KeepAlive;
  /** Of the timer that was delivered last. */
  private lastDelivered = NO_LABEL;
  private codes: Uint8Array<SharedArrayBuffer>;
  private bounds: Float64Array<SharedArrayBuffer>;
  private readonly capacity: number;

  /** Throws AllocationError. */
  constructor(labels: readonly Label[], capacity: number, refs: KeepAlive) {
    this.labels = labels;
    this.refs = refs;
    this.capacity = capacity;
    const codes = allocateSlots(1 / 4, capacity);
    this.codes = new Uint8Array(codes, 0, codes.byteLength);
    this.bounds = doublesIn(allocateSlots(4, capacity));
  }

  /**
   * Sees to it that there is memory for so many slots, or for all, where that was refused at first. Throws
   * AllocationError.
   */
  reserve(wanted: number): void {
    const { bounds, codes, capacity } = this;
    const slots = min(wanted, capacity);
    if (2 * slots > bounds.length) this.bounds = doublesIn(growSlots(bounds.buffer, 4, capacity, slots));
    if (slots <= codes.length) return;
    const larger = growSlots(codes.buffer, 1 / 4, capacity, slots);
    this.codes = new Uint8Array(larger, 0, larger.byteLength);
  }

  /** Precondition: the slot's timer has just begun. */
  begin(slot: number, label: Label): void {
    this.codes[slot] = label.code;
    label.size += 1;
    label.scheduled += 1;
    if (label.ref === false) this.refs.adjustUnref(1);
  }

  /**
   * Called when a timer has ended, in any way, and still counts as live. Whether the process is held is looked at when
   * it does so no more, by whoever has ended it.
   */
  end(slot: number): void {
    const code = this.codes[slot];
    if (!(code > NO_LABEL)) return; // undefined for a slot beyond those that have ever had a label
    this.codes[slot] = NO_LABEL;
    const label = this.labels[code];
    label.size -= 1;
    if (label.ref === false) this.refs.unrefCount -= 1;
  }

  /**
   * Called for a live timer that `close` hands back: as far as the label counts, it goes on to be neither delivered nor
   * cancelled.
   */
  handBack(slot: number): void {
    if (this.labelOf(slot).ref === false) this.refs.unrefCount -= 1;
  }

  /** Called when a timer is delivered, with its lateness in ms, before it ends. */
  delivered(slot: number, lateness: number, isRepeating: boolean): void {
    const code = this.codes[slot] ?? NO_LABEL;
    this.lastDelivered = code;
    if (code === NO_LABEL) return;
    this.labels[code].deliver(lateness);
    if (isRepeating) this.labels[code].repeated += 1;
  }

  /** The name of the label of the timer that was delivered last; '' if it has none. */
  get nameOfDelivered(): string {
    return this.labels[this.lastDelivered].name;
  }

  /** The label of a slot's timer; the client's plain one if it has none. */
  labelOf(slot: number): Label {
    return this.labels[this.codes[slot] ?? NO_LABEL];
  }

  /**
   * When a timer is due by its label's present factor, in ms. Precondition: its label is scaled, and it does not
   * repeat.
   */
  scaledDeadlineOf(slot: number): number {
    return this.labelOf(slot).deadlineOf(this.bounds[2 * slot], this.bounds[2 * slot + 1]);
  }

  /** Sets the bounds of a scaled timer, in ms. */
  setBounds(slot: number, earliest: number, full: number): void {
    this.bounds[2 * slot] = earliest;
    this.bounds[2 * slot + 1] = full;
  }
}
