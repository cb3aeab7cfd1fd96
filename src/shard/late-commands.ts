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
  /** The first one that is left is at `next`. */
  slots = new Int32Array(FIRST_ENTRIES);
  tags = new Int32Array(FIRST_ENTRIES);
  ticks = new Float64Array(FIRST_ENTRIES);
  next = 0;
  /** Number of commands that are left. */
  length = 0;
  isInOrder = true;

  add(slot: number, tag: number, tick: number): void {
    const at = this.next + this.length;
    if (at === this.slots.length) this.resize(2 * at);
    this.slots[at] = slot;
    this.tags[at] = tag;
    this.ticks[at] = tick;
    if (this.length > 0 && this.ticks[at - 1] > tick) this.isInOrder = false;
    this.length += 1;
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
  }

  /** Drops the first, which has been handed over. */
  drop(): void {
    this.next += 1;
    this.length -= 1;
    if (this.length > 0) return;
    this.next = 0;
    if (this.slots.length > MOST_KEPT) this.resize(FIRST_ENTRIES);
  }

  /** Visits the commands that have not been handed over, in order. */
  forEach(visit: (slot: number, tag: number) => void): void {
    for (let at = this.next; at < this.next + this.length; at++) visit(this.slots[at], this.tags[at]);
  }

  /** Precondition: what is left has room. */
  private resize(entries: number): void {
    const { slots, tags, ticks } = this;
    const end = this.next + this.length;
    this.slots = new Int32Array(entries);
    this.tags = new Int32Array(entries);
    this.ticks = new Float64Array(entries);
    this.slots.set(slots.subarray(0, end));
    this.tags.set(tags.subarray(0, end));
    this.ticks.set(ticks.subarray(0, end));
  }
}
