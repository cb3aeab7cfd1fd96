/** What is kept for a deadline of 0 itself: 0 is what is read of a slot that has none. */
const ZERO = -0;
const INITIAL = 256;

/**
 * The deadlines that are not the times of their ticks, by slot. Whole deadlines on a wheel of precision 1 have none here,
 * so that such a wheel needs none of this.
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

  /** The slot's deadline is the time of its tick. */
  unset(slot: number): void {
    if (slot < this.deadlines.length) this.deadlines[slot] = 0;
  }

  /** `ofTick` where the slot has no deadline of its own. */
  get(slot: number, ofTick: number): number {
    if (slot >= this.deadlines.length) return ofTick;
    const deadline = this.deadlines[slot];
    return Object.is(deadline, 0) ? ofTick : deadline + 0;
  }

  get bytes(): number {
    return this.deadlines.byteLength;
  }

  private grow(slot: number): void {
    const deadlines = new Float64Array(Math.min(this.capacity, Math.max(INITIAL, 4 * slot)));
    deadlines.set(this.deadlines);
    this.deadlines = deadlines;
  }
}
