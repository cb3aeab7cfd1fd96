const FIRST_PLACES = 64;
/** Places above which the arrays are released when all entries have been taken. */
const MOST_KEPT = 2 ** 14;

/**
 * Entries of a lane in order: by due tick and, within one, by arrival. If the lane has few, all of them are here, and its wheel is
 * empty; else only those that were due when they were taken.
 *
 *     │ have been handed over │ in order │ free │
 *                           next       end
 */
export class EntryList {
  /** Slot and tag of the entry in each place. The first that is left is at `next`. */
  words = new Int32Array(2 * FIRST_PLACES);
  ticks = new Float64Array(FIRST_PLACES);
  next = 0;
  /** Number of entries that are left. */
  length = 0;
  isInOrder = true;
  /** A bit for each slot: whether it may have an entry that was put here. */
  private slots = new Int32Array(1);

  /** Puts an entry in its place, instead of any other of its slot. Precondition: they are in order. */
  put(slot: number, tag: number, tick: number): void {
    if (this.next + this.length === this.ticks.length) this.resize(2 * this.length + FIRST_PLACES);
    if (this.isNoted(slot)) this.remove(slot);
    const { next, ticks, words } = this;
    const end = next + this.length;
    let at = end;
    for (let from = next; from < at; ) {
      const middle = (from + at) >>> 1;
      if (ticks[middle] <= tick) from = middle + 1;
      else at = middle;
    }
    // Those before it make room, or those after it, whichever are fewer.
    if (next > 0 && at - next < end - at) {
      words.copyWithin(2 * next - 2, 2 * next, 2 * at);
      ticks.copyWithin(next - 1, next, at);
      at -= 1;
      this.next = next - 1;
    } else if (at < end) {
      words.copyWithin(2 * at + 2, 2 * at, 2 * end);
      ticks.copyWithin(at + 1, at, end);
    }
    words[2 * at] = slot;
    words[2 * at + 1] = tag;
    ticks[at] = tick;
    this.length += 1;
  }

  /** Adds an entry, for `sort` to put in its place. Another of its slot stays. */
  append(slot: number, tag: number, tick: number): void {
    if (this.next + this.length === this.ticks.length) this.resize(2 * this.length + FIRST_PLACES);
    const { ticks, words } = this;
    const at = this.next + this.length;
    words[2 * at] = slot;
    words[2 * at + 1] = tag;
    ticks[at] = tick;
    if (this.length > 0 && ticks[at - 1] > tick) this.isInOrder = false;
    this.length += 1;
  }

  sort(): void {
    if (this.isInOrder) return;
    this.isInOrder = true;
    const { length, next, ticks, words } = this;
    const order = Uint32Array.from({ length }, (_, at) => next + at);
    order.sort((one, other) => ticks[one] - ticks[other] || one - other);
    this.words = Int32Array.from({ length: 2 * length }, (_, word) => words[2 * order[word >> 1] + (word & 1)]);
    this.ticks = Float64Array.from(order, (at) => ticks[at]);
    this.next = 0;
  }

  /** Drops the first. */
  drop(): void {
    const slot = this.words[2 * this.next];
    this.slots[slot >>> 5] &= ~(1 << (slot & 31));
    this.next += 1;
    this.length -= 1;
    if (this.length > 0) return;
    this.next = 0;
    if (this.ticks.length > MOST_KEPT) this.resize(FIRST_PLACES);
  }

  /** Visits the entries that are left, in order if they are. */
  forEach(visit: (slot: number, tag: number, tick: number) => void): void {
    const { length, next, ticks, words } = this;
    for (let at = next; at < next + length; at++) visit(words[2 * at], words[2 * at + 1], ticks[at]);
  }

  clear(): void {
    while (this.length > 0) this.drop();
    this.isInOrder = true;
  }

  /** Notes that a slot has an entry; returns whether that is known. */
  private isNoted(slot: number): boolean {
    const word = slot >>> 5;
    if (word >= this.slots.length) {
      const slots = new Int32Array(2 * word);
      slots.set(this.slots);
      this.slots = slots;
    }
    const bit = 1 << (slot & 31);
    const isNoted = (this.slots[word] & bit) !== 0;
    this.slots[word] |= bit;
    return isNoted;
  }

  /** Removes the entry of a slot, if there is one. */
  private remove(slot: number): void {
    const { next, ticks, words } = this;
    const end = next + this.length;
    let at = next;
    while (at < end && words[2 * at] !== slot) at += 1;
    if (at === end) return;
    words.copyWithin(2 * at, 2 * at + 2, 2 * end);
    ticks.copyWithin(at, at + 1, end);
    this.length -= 1;
  }

  /** Leaves room before the entries, and more after them. Precondition: it is enough for a quarter more. */
  private resize(places: number): void {
    const { length, next, ticks, words } = this;
    const end = next + length;
    this.next = length >> 2;
    this.words = new Int32Array(2 * places);
    this.ticks = new Float64Array(places);
    this.words.set(words.subarray(2 * next, 2 * end), 2 * this.next);
    this.ticks.set(ticks.subarray(next, end), this.next);
  }
}
