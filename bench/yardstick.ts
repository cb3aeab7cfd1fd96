const SLOTS = 256;
const LEVELS = 4;
const NEXT = 0;
const PREV = 1;
const SLOT = 2;
const TICK = 3;

/**
 * The measure of all targets, frozen: a plain hierarchical wheel of doubly linked lists, 4 levels of 256 slots. Timer t is
 * the words cells[4t .. 4t + 3] = next, prev, slot, tick; the heads of the lists stand behind the timers as timers of
 * their own. No ids, no values, no occupancy, no checks; every tick is stepped through. Do not tune it: figures of
 * different versions are comparable through it alone.
 */
export class Yardstick {
  now = 0;
  readonly cells: Int32Array;
  private readonly heads: number;

  /** Timers are 0 .. capacity - 1; each may be filed once. */
  constructor(capacity: number) {
    this.heads = capacity;
    this.cells = new Int32Array((capacity + LEVELS * SLOTS) * 4);
    for (let head = capacity; head < capacity + LEVELS * SLOTS; head++) {
      this.cells[head * 4 + NEXT] = head;
      this.cells[head * 4 + PREV] = head;
    }
  }

  /** Precondition: now <= tick < 2^31, not filed. */
  insert(timer: number, tick: number): void {
    const { cells } = this;
    const level = (31 - Math.clz32((tick ^ this.now) | 1)) >> 3;
    const head = this.heads + level * SLOTS + ((tick >>> (level * 8)) & (SLOTS - 1));
    const last = cells[head * 4 + PREV];
    cells[timer * 4 + NEXT] = head;
    cells[timer * 4 + PREV] = last;
    cells[timer * 4 + SLOT] = head;
    cells[timer * 4 + TICK] = tick;
    cells[last * 4 + NEXT] = timer;
    cells[head * 4 + PREV] = timer;
  }

  /** Precondition: filed. */
  remove(timer: number): void {
    const { cells } = this;
    const next = cells[timer * 4 + NEXT];
    const previous = cells[timer * 4 + PREV];
    cells[previous * 4 + NEXT] = next;
    cells[next * 4 + PREV] = previous;
  }

  advanceTo(tick: number, sink: { fired(timer: number): void }): void {
    const { cells, heads } = this;
    while (this.now < tick) {
      const now = ++this.now;
      if ((now & (SLOTS - 1)) === 0) this.cascade(now);
      const head = heads + (now & (SLOTS - 1));
      for (let timer = cells[head * 4 + NEXT]; timer !== head; timer = cells[head * 4 + NEXT]) {
        this.remove(timer);
        sink.fired(timer);
      }
    }
  }

  private cascade(now: number): void {
    const { cells } = this;
    for (let level = 1; level < LEVELS; level++) {
      const slot = (now >>> (level * 8)) & (SLOTS - 1);
      if (slot === 0) continue;
      const head = this.heads + level * SLOTS + slot;
      for (let timer = cells[head * 4 + NEXT]; timer !== head; timer = cells[head * 4 + NEXT]) {
        this.remove(timer);
        this.insert(timer, cells[timer * 4 + TICK]);
      }
      return;
    }
  }
}
