/** A queue whose `shift` costs the same whatever its length. */
export class Fifo<T> {
  private items: T[] = [];
  private taken = 0;

  push(item: T): void {
    this.items.push(item);
  }

  /** Undefined if it is empty. */
  shift(): T | undefined {
    if (this.taken === this.items.length) return undefined;
    const item = this.items[this.taken++];
    if (this.taken >= 1024 && this.taken * 2 >= this.items.length) {
      this.items = this.items.slice(this.taken);
      this.taken = 0;
    }
    return item;
  }
}
