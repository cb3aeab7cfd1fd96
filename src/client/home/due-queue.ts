import { ownWords } from '../../memory/own-words.ts';

/** Number of entries above which the arrays are released when they have been taken. */
const MAX_KEPT_ENTRIES = 2 ** 17;
const FIRST_ENTRIES = 256;

/**
 * The timers of a tick that has come, in Node's order: by deadline, which with slack differ within a tick, and by when
 * each was set or refreshed. A wheel hands them over in the order in which they were filed, which is another for those
 * that were refiled.
 *
 *     │ have had their turn │ in order │
 *                           next       length
 *
 * An entry names a slot and the order of the timer that was due there. If that was cleared or refreshed since, the slot
 * is free, or has another order: then the entry has no effect.
 */
export class DueQueue {
  slots = new Int32Array(FIRST_ENTRIES);
  /** The ticks of their deadlines, the low words. */
  dues = new Int32Array(FIRST_ENTRIES);
  orders = new Int32Array(FIRST_ENTRIES);
  next = 0;
  length = 0;
  isInOrder = true;

  add(slot: number, due: number, order: number): void {
    const at = this.length;
    if (at === this.slots.length) this.grow();
    this.slots[at] = slot;
    this.dues[at] = due;
    this.orders[at] = order;
    this.length = at + 1;
    if (at > 0 && this.difference(at - 1, at) > 0) this.isInOrder = false;
  }

  /**
   * Sorts them, once all of the tick have been added and are not in order. If memory is refused, they stay as they are.
   */
  sort(): void {
    this.isInOrder = true;
    const { slots, dues, orders, length } = this;
    let places: Int32Array;
    try {
      places = ownWords(length);
      this.resize(length);
    } catch {
      return; // no memory
    }
    for (let at = 0; at < length; at++) places[at] = at;
    places.sort((one, other) => (dues[one] - dues[other]) | 0 || (orders[one] - orders[other]) | 0);
    for (let at = 0; at < length; at++) {
      this.slots[at] = slots[places[at]];
      this.dues[at] = dues[places[at]];
      this.orders[at] = orders[places[at]];
    }
  }

  clear(): void {
    this.next = 0;
    this.length = 0;
    this.isInOrder = true;
    if (this.slots.length > MAX_KEPT_ENTRIES) this.resize(FIRST_ENTRIES);
  }

  /** Below 0 if the first comes before the other. */
  private difference(one: number, other: number): number {
    return (this.dues[one] - this.dues[other]) | 0 || (this.orders[one] - this.orders[other]) | 0;
  }

  private grow(): void {
    const { slots, dues, orders } = this;
    this.resize(2 * slots.length);
    this.slots.set(slots);
    this.dues.set(dues);
    this.orders.set(orders);
  }

  /** If memory is refused, throws and changes nothing. */
  private resize(entries: number): void {
    const [slots, dues, orders] = [ownWords(entries), ownWords(entries), ownWords(entries)];
    this.slots = slots;
    this.dues = dues;
    this.orders = orders;
  }
}
