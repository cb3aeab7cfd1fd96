import { allocateWords, doublesIn } from '../memory/shared-words.ts';
import type { Label } from './label.ts';

/** The code of a slot whose timer has no label. */
export const NO_LABEL = 0;

/**
 * The label of each timer of a lane, by slot, and the two bounds of its deadline if it is scaled. Created when a timer
 * of the lane first has a label. Without labels the cost is one comparison when a timer ends.
 *
 *     codes    a byte per slot: its label; NO_LABEL where there is none, and where there is no timer
 *     bounds   two doubles per slot, once a label of the client is scaled: earliest and full deadline, ms, of scaled timers
 *
 * Laid out for the whole capacity; only touched parts are resident, as with a lane's payload.
 */
export class LaneLabels {
  /** By code. */
  private readonly labels: readonly Label[];
  private readonly capacity: number;
  private readonly codes: Uint8Array;
  private bounds: Float64Array | undefined;

  /** Throws AllocationError. */
  constructor(labels: readonly Label[], capacity: number) {
    this.labels = labels;
    this.capacity = capacity;
    this.codes = new Uint8Array(allocateWords(Math.ceil(capacity / 4)), 0, capacity);
  }

  /** Makes room for scaled timers. Throws AllocationError. */
  allowScaling(): void {
    this.bounds ??= doublesIn(allocateWords(4 * this.capacity));
  }

  /** Precondition: the slot's timer has just begun; if it is scaled, `allowScaling` was called. */
  begin(slot: number, label: Label): void {
    this.codes[slot] = label.code;
    label.size += 1;
    label.scheduled += 1;
  }

  /** Called when a timer has ended, in any way. */
  end(slot: number): void {
    const code = this.codes[slot];
    if (code === NO_LABEL) return;
    this.codes[slot] = NO_LABEL;
    this.labels[code].size -= 1;
  }

  /** Called when a timer is delivered, with its lateness in ms, before it ends. */
  delivered(slot: number, lateness: number, isRepeating: boolean): void {
    const code = this.codes[slot];
    if (code === NO_LABEL) return;
    this.labels[code].deliver(lateness);
    if (isRepeating) this.labels[code].repeated += 1;
  }

  /** The label of a slot's timer; the client's plain one if it has none. */
  labelOf(slot: number): Label {
    return this.labels[this.codes[slot]];
  }

  /** When a scaled timer is due by its label's present factor, in ms; NaN for any other slot. */
  scaledDeadlineOf(slot: number): number {
    const label = this.labelOf(slot);
    if (label.min === undefined) return Number.NaN;
    const bounds = this.bounds as Float64Array;
    return label.deadlineOf(bounds[2 * slot], bounds[2 * slot + 1]);
  }

  /** Sets the bounds of a scaled timer, in ms; NaN for one that is not to be scaled. */
  setBounds(slot: number, earliest: number, full: number): void {
    const bounds = this.bounds as Float64Array;
    bounds[2 * slot] = earliest;
    bounds[2 * slot + 1] = full;
  }
}
