import { ownDoubles, ownWords, ownWordsAtLeast } from '../memory/own-words.ts';

const FIRST_PLACES = 64;
/** Places above which the arrays are released when all entries have been taken. */
const MAX_KEPT_PLACES = 2 ** 14;

/**
 * Entries of a lane in order: by due tick and, within one, by arrival. If the lane has few, all of them are here, and
 * its wheel is empty; else only those that were due when they were taken.
 *
 *     │ have been handed over │ in order │ free │
 *                           next       end
 */
export class EntryList {
  /** Slot and tag of the entry in each place. The first that is left is at `next`. */
  words = ownWords(2 * FIRST_PLACES);
  ticks = ownDoubles(FIRST_PLACES);
  next = 0;
  /** Number of entries that are left. */
  length = 0;
  isInOrder = true;
  /** A bit for each slot: whether it may have an entry that was put here. */
  private slots = ownWords(1);

  /**
   * Puts an entry in its place, instead of any other of its slot, which leaves its room. If memory is refused, throws
   * and changes nothing. Precondition: they are in order.
   */
  put(slot: number, tag: number, tick: number): void {
    if (this.isNoted(slot)) this.remove(slot);
    if (this.next + this.length === this.ticks.length) this.resize(2 * this.length + FIRST_PLACES);
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

  /**
   * Adds an entry, for `sort` to put in its place. Another of its slot stays. If memory is refused, throws and changes
   * nothing.
   */
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

  /** If memory is refused, they stay as they are, and the next call tries again. */
  sort(): void {
    if (this.isInOrder) return;
    const { length, next, ticks, words } = this;
    let order: Int32Array;
    try {
      order = ownWords(length);
      this.resize(ticks.length);
    } catch {
      return; // no memory
    }
    for (let at = 0; at < length; at++) order[at] = next + at;
    order.sort((one, other) => ticks[one] - ticks[other] || one - other);
    for (let at = 0; at < length; at++) {
      const to = this.next + at;
      this.words[2 * to] = words[2 * order[at]];
      this.words[2 * to + 1] = words[2 * order[at] + 1];
      this.ticks[to] = ticks[order[at]];
    }
    this.isInOrder = true;
  }

  /** Drops the first. */
  drop(): void {
    const slot = this.words[2 * this.next];
    this.slots[slot >>> 5] &= ~(1 << (slot & 31));
    this.next += 1;
    this.length -= 1;
    if (this.length === 0) this.restart();
  }

  /** Drops all but the first `count`. */
  truncate(count: number): void {
    while (this.length > count) {
      this.length -= 1;
      const slot = this.words[2 * (this.next + this.length)];
      this.slots[slot >>> 5] &= ~(1 << (slot & 31));
    }
    if (count === 0) this.restart();
  }

  /** Visits the entries that are left, in order if they are. */
  forEach(visit: (slot: number, tag: number, tick: number) => void): void {
    const { length, next, ticks, words } = this;
    for (let at = next; at < next + length; at++) visit(words[2 * at], words[2 * at + 1], ticks[at]);
  }

  /** Precondition: none is left. */
  private restart(): void {
    this.next = 0;
    this.isInOrder = true;
    if (this.ticks.length <= MAX_KEPT_PLACES) return;
    try {
      this.resize(FIRST_PLACES);
    } catch {
      // no memory: it keeps what it has
    }
  }

  /**
   * Notes that a slot may have an entry; returns whether that is known. If memory is refused, throws and changes
   * nothing.
   */
  private isNoted(slot: number): boolean {
    const word = slot >>> 5;
    if (word >= this.slots.length) {
      const slots = ownWordsAtLeast(word + 1, 2 * word);
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

  /**
   * Leaves room before the entries, and more after them, as far as there is. If memory is refused, throws and changes
   * nothing. Precondition: it is enough for them.
   */
  private resize(places: number): void {
    const { length, next } = this;
    const end = next + length;
    const words = ownWords(2 * places);
    const ticks = ownDoubles(places);
    const first = Math.min(length >> 2, places - length);
    words.set(this.words.subarray(2 * next, 2 * end), 2 * first);
    ticks.set(this.ticks.subarray(next, end), first);
    this.next = first;
    this.words = words;
    this.ticks = ticks;
  }
}
