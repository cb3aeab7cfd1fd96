/**
 * What is due, the oldest first; what is due at the same time, in the order in which it came. For a few thousand: an
 * array, with the oldest at its end. To take that costs the same whatever the length, and to add one moves those that
 * are due before it.
 */
export class DueOrder<T extends { readonly due: number }> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  get oldest(): T | undefined {
    return this.items.at(-1);
  }

  add(item: T): void {
    this.items.splice(this.countAfter(item.due), 0, item);
  }

  /** Undefined if it is empty. */
  takeOldest(): T | undefined {
    return this.items.pop();
  }

  /** Undefined if it is empty. */
  takeNewest(): T | undefined {
    return this.items.shift();
  }

  /** With the due time that it was added with. */
  remove(item: T): void {
    const at = this.items.indexOf(item, this.countAfter(item.due));
    if (at >= 0) this.items.splice(at, 1);
  }

  /** How many are due later than then. */
  private countAfter(due: number): number {
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.items[middle].due > due) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
