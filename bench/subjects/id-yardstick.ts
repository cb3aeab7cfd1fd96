export const ID_YARDSTICK = 'id yardstick';

const SLOTS = 256;
const LEVELS = 4;
const RECORD = 3;
const NEXT = 0;
const PREV = 1;
const SLOT = 2;
const TICK = 3;
const GENERATION = 4;
const VALUE = 5;
const FREE = -1;
const ID_STEP = 2 ** 24;
const SLOT_MASK = ID_STEP - 1;

/**
 * The measure of all wheels, frozen: a plain hierarchical wheel of doubly linked lists, 4 levels of 256 slots, with
 * what makes it usable, ids and a value per timer. Timer t is the words cells[8t .. 8t + 7] = next, prev, slot (its
 * list, FREE where it is not live), tick, generation, value, and two that are not used; the heads of the lists stand
 * behind the timers. An id is generation × 2^24 + t. No occupancy, no checks but those of the id; every tick is stepped
 * through. Do not tune it: figures of different versions are comparable through it alone.
 */
export class IdYardstick {
  now = 0;
  readonly cells: Int32Array;
  private readonly heads: number;
  private free = -1;
  private used = 0;

  /** At most `capacity` timers live at once, and 2^24. */
  constructor(capacity: number) {
    this.heads = capacity;
    this.cells = new Int32Array((capacity + LEVELS * SLOTS) << RECORD);
    for (let head = capacity; head < capacity + LEVELS * SLOTS; head++) {
      this.cells[(head << RECORD) + NEXT] = head;
      this.cells[(head << RECORD) + PREV] = head;
    }
  }

  /** Precondition: now <= tick < 2^31, fewer than `capacity` are live. Returns the id. */
  schedule(tick: number, value: number): number {
    const { cells } = this;
    let timer = this.free;
    if (timer < 0) timer = this.used++;
    else this.free = cells[(timer << RECORD) + NEXT];
    const at = timer << RECORD;
    cells[at + VALUE] = value;
    cells[at + TICK] = tick;
    this.insert(timer, tick);
    return cells[at + GENERATION] * ID_STEP + timer;
  }

  /** False where the id is not that of a live timer. */
  cancel(id: number): boolean {
    const { cells } = this;
    const timer = id & SLOT_MASK;
    const at = timer << RECORD;
    if (cells[at + SLOT] === FREE || cells[at + GENERATION] * ID_STEP + timer !== id) return false;
    this.unlink(at);
    this.release(timer);
    return true;
  }

  advanceTo(tick: number, onFire: (value: number, id: number) => void): void {
    const { cells, heads } = this;
    while (this.now < tick) {
      const now = ++this.now;
      if ((now & (SLOTS - 1)) === 0) this.cascade(now);
      const head = heads + (now & (SLOTS - 1));
      for (let timer = cells[(head << RECORD) + NEXT]; timer !== head; timer = cells[(head << RECORD) + NEXT]) {
        const at = timer << RECORD;
        const value = cells[at + VALUE];
        const id = cells[at + GENERATION] * ID_STEP + timer;
        this.unlink(at);
        this.release(timer);
        onFire(value, id);
      }
    }
  }

  private release(timer: number): void {
    const { cells } = this;
    const at = timer << RECORD;
    cells[at + SLOT] = FREE;
    cells[at + GENERATION]++;
    cells[at + NEXT] = this.free;
    this.free = timer;
  }

  private insert(timer: number, tick: number): void {
    const { cells } = this;
    const level = (31 - Math.clz32((tick ^ this.now) | 1)) >> 3;
    const head = this.heads + level * SLOTS + ((tick >>> (level * 8)) & (SLOTS - 1));
    const last = cells[(head << RECORD) + PREV];
    cells[(timer << RECORD) + NEXT] = head;
    cells[(timer << RECORD) + PREV] = last;
    cells[(timer << RECORD) + SLOT] = head;
    cells[(last << RECORD) + NEXT] = timer;
    cells[(head << RECORD) + PREV] = timer;
  }

  private unlink(at: number): void {
    const { cells } = this;
    const next = cells[at + NEXT];
    const previous = cells[at + PREV];
    cells[(previous << RECORD) + NEXT] = next;
    cells[(next << RECORD) + PREV] = previous;
  }

  private cascade(now: number): void {
    const { cells } = this;
    for (let level = 1; level < LEVELS; level++) {
      const slot = (now >>> (level * 8)) & (SLOTS - 1);
      if (slot === 0) continue;
      const head = this.heads + level * SLOTS + slot;
      for (let timer = cells[(head << RECORD) + NEXT]; timer !== head; timer = cells[(head << RECORD) + NEXT]) {
        this.unlink(timer << RECORD);
        this.insert(timer, cells[(timer << RECORD) + TICK]);
      }
      return;
    }
  }
}
