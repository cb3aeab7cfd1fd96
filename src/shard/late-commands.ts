/** Number of entries above which the arrays are released when they have been taken. */
const MOST_KEPT = 2 ** 14;
const FIRST_ENTRIES = 64;

/**
 * The late commands of a round: those whose due tick has come when they are taken. They are fired without being filed, sorted when all
 * are in: by due tick and, within one, by arrival.
 *
 *     │ have been handed over │ in order │
 *                           next       end
 */
export class LateCommands {
  private slots = new Int32Array(FIRST_ENTRIES);
  private tags = new Int32Array(FIRST_ENTRIES);
  private ticks = new Float64Array(FIRST_ENTRIES);
  private next = 0;
  private end = 0;
  private isInOrder = true;

  get length(): number {
    return this.end - this.next;
  }

  // The first. Precondition: length > 0.

  get slot(): number {
    return this.slots[this.next];
  }

  get tag(): number {
    return this.tags[this.next];
  }

  get tick(): number {
    return this.ticks[this.next];
  }

  add(slot: number, tag: number, tick: number): void {
    const { end } = this;
    if (end === this.slots.length) this.resize(2 * end);
    this.slots[end] = slot;
    this.tags[end] = tag;
    this.ticks[end] = tick;
    this.end = end + 1;
    if (end > this.next && this.ticks[end - 1] > tick) this.isInOrder = false;
  }

  /** Called when all commands of the round are in; some of the round before may have had no room. */
  sort(): void {
    if (this.isInOrder) return;
    this.isInOrder = true;
    const { slots, tags, ticks, next, length } = this;
    const order = Uint32Array.from({ length }, (_, at) => next + at);
    order.sort((one, other) => ticks[one] - ticks[other] || one - other);
    this.slots = Int32Array.from(order, (at) => slots[at]);
    this.tags = Int32Array.from(order, (at) => tags[at]);
    this.ticks = Float64Array.from(order, (at) => ticks[at]);
    this.next = 0;
    this.end = length;
  }

  /** Drops the first, which has been handed over. */
  drop(): void {
    this.next += 1;
    if (this.next < this.end) return;
    this.next = 0;
    this.end = 0;
    if (this.slots.length > MOST_KEPT) this.resize(FIRST_ENTRIES);
  }

  /** Visits the commands that have not been handed over, in order. */
  forEach(visit: (slot: number, tag: number) => void): void {
    for (let at = this.next; at < this.end; at++) visit(this.slots[at], this.tags[at]);
  }

  private resize(entries: number): void {
    const { slots, tags, ticks } = this;
    const kept = Math.min(entries, this.end);
    this.slots = new Int32Array(entries);
    this.tags = new Int32Array(entries);
    this.ticks = new Float64Array(entries);
    this.slots.set(slots.subarray(0, kept));
    this.tags.set(tags.subarray(0, kept));
    this.ticks.set(ticks.subarray(0, kept));
  }
}
