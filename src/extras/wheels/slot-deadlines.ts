import { ownDoubles } from '../../memory/own-words.ts';

/** The stored value for a deadline of 0: a slot without a deadline reads as 0. */
const ZERO = -0;
const INITIAL = 256;

/**
 * The deadlines that differ from the times of their ticks, by slot. A wheel of precision 1 with whole deadlines has
 * none, and needs no such object.
 */
export class SlotDeadlines {
  private readonly capacity: number;
  private deadlines = new Float64Array(0);

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  set(slot: number, deadline: number): void {
    if (slot >= this.deadlines.length) this.grow(slot);
    this.deadlines[slot] = deadline === 0 ? ZERO : deadline;
  }

  /** Notes that the slot's deadline is the time of its tick. */
  unset(slot: number): void {
    if (slot < this.deadlines.length) this.deadlines[slot] = 0;
  }

  /** Returns the slot's deadline, or `ofTick` if it has none of its own. */
  get(slot: number, ofTick: number): number {
    if (slot >= this.deadlines.length) return ofTick;
    const deadline = this.deadlines[slot];
    return Object.is(deadline, 0) ? ofTick : deadline + 0;
  }

  get bytes(): number {
    return this.deadlines.byteLength;
  }

  private grow(slot: number): void {
    const deadlines = ownDoubles(Math.min(this.capacity, Math.max(INITIAL, 4 * slot)));
    deadlines.set(this.deadlines);
    this.deadlines = deadlines;
  }
}
