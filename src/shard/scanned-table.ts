import type { TableView } from '../lane/table-view.ts';
import { ownDoubles, ownWords, ownWordsAtLeast } from '../memory/own-words.ts';
import type { DueSink, EntryOwner, LevelOccupancy, TickIndex } from '../wheel/tick-index.ts';

// Taken once: a program may replace them.
const { clz32, max, min } = Math;

/** Number of due timers that one look through the table collects. */
const COLLECTED = 512;
const FIRST_SLOTS = 1024;

/**
 * What serves a lane when an engine is refused its memory: no index at all, but the timer table, which is read from end
 * to end. It keeps one bit for each slot, which says whether it is filed. When it is due, the table says.
 *
 *   table   │ due │ due │ due │ …      up to the high water
 *   filed   │  1  │  0  │  1  │ …      ──▶ the COLLECTED earliest that are due, in order ──▶ the sink
 *
 * What a budget leaves of them waits for the next call: a client that takes a few records at a time does not cost a
 * look through the table for each few. `insert`, `remove`: O(1). `advanceTo`: O(slots) per COLLECTED timers that are
 * due; `nextDue`: O(slots) where none of those waits; `nextTick`: O(slots). Timers of one tick come in any order.
 */
export class ScannedTable implements TickIndex {
  now: number;
  size = 0;
  readonly cascaded = 0;
  dropped = 0;
  readonly refiled = 0;
  readonly upperBound = Number.POSITIVE_INFINITY;
  private readonly table: TableView;
  private filed = ownWords(FIRST_SLOTS >>> 5);
  /** Slots that were filed are below. */
  private reach = 0;
  /** A tick before which nothing that is filed is due. */
  private earliest = Number.POSITIVE_INFINITY;
  /**
   * The earliest that are due, by tick: slots and ticks, from `next` to `count`. No other that is filed is due before
   * the last of them. Each is looked at again when its turn comes: it may have been removed, or moved.
   */
  private readonly slots = ownWords(COLLECTED);
  private readonly ticks = ownDoubles(COLLECTED);
  private next = 0;
  private count = 0;

  /** Throws AllocationError. */
  constructor(table: TableView, start: number) {
    this.table = table;
    this.now = start;
  }

  get bytes(): number {
    return this.filed.byteLength + this.slots.byteLength + this.ticks.byteLength;
  }

  bytesFor(slots: number): number {
    return this.bytes - this.filed.byteLength + (slots >>> 3);
  }

  /** Throws AllocationError. */
  insert(slot: number, tick: number): void {
    if (slot >>> 5 >= this.filed.length) this.grow(slot);
    if (!this.has(slot)) this.size += 1;
    this.filed[slot >>> 5] |= 1 << (slot & 31);
    this.reach = max(this.reach, slot + 1);
    this.earliest = min(this.earliest, max(tick, this.now + 1));
    this.forgetAfter(tick);
  }

  remove(slot: number): boolean {
    if (!this.has(slot)) return false;
    this.filed[slot >>> 5] &= ~(1 << (slot & 31));
    this.size -= 1;
    return true;
  }

  has(slot: number): boolean {
    return ((this.filed[slot >>> 5] >>> (slot & 31)) & 1) === 1;
  }

  tickOf(slot: number): number {
    return this.table.dueTickOf(slot, this.now);
  }

  advanceTo(tick: number, sink: DueSink, budget: number): boolean {
    let left = budget;
    while (this.earliest <= tick) {
      if (this.next === this.count) this.collect(tick);
      while (this.next < this.count && this.ticks[this.next] <= tick) {
        if (left <= 0) return false;
        const slot = this.slots[this.next];
        const due = this.ticks[this.next];
        this.next += 1;
        if (!this.isStill(slot, due)) continue;
        this.remove(slot);
        this.now = max(this.now, due);
        left -= 1;
        sink.due(slot, due);
      }
      if (this.next < this.count) break; // the rest is due later
    }
    this.now = max(this.now, tick);
    return true;
  }

  nextTick(): number {
    this.collect(Number.NEGATIVE_INFINITY);
    return this.earliest;
  }

  nextEvent(): number {
    return this.earliest;
  }

  nextWanted(owner: EntryOwner): number {
    return this.nextDue(owner);
  }

  nextDue(owner: EntryOwner): number {
    while (this.next < this.count) {
      const slot = this.slots[this.next];
      const due = this.ticks[this.next];
      if (this.isStill(slot, due) && owner.wantedAt(slot, due) === due) return due;
      this.next = min(this.next + 1, this.count);
    }
    let earliest = Number.POSITIVE_INFINITY;
    this.forEach((slot) => {
      const wanted = owner.wantedAt(slot, this.tickOf(slot));
      if (wanted < 0) {
        this.remove(slot); // its timer has ended
        this.dropped += 1;
      } else earliest = min(earliest, wanted);
    });
    this.earliest = earliest;
    return earliest;
  }

  /** It has no levels. */
  levels(): LevelOccupancy[] {
    return [];
  }

  forEach(visit: (slot: number) => void): void {
    const words = (this.reach + 31) >>> 5;
    for (let word = 0; word < words; word++) {
      for (let left = this.filed[word]; left !== 0; left &= left - 1) {
        visit((word << 5) + 31 - clz32(left ^ (left & (left - 1))));
      }
    }
  }

  clear(): void {
    this.filed.fill(0);
    this.size = 0;
    this.reach = 0;
    this.earliest = Number.POSITIVE_INFINITY;
    this.next = 0;
    this.count = 0;
  }

  /** Whether a collected slot is due as it was. One that is filed and has been moved is found by the next look. */
  private isStill(slot: number, due: number): boolean {
    if (!this.has(slot)) return false;
    const tick = this.tickOf(slot);
    if (tick !== due) this.forgetAfter(tick);
    return tick === due;
  }

  /** Leaves collected slots that are due after a tick to the next look, which finds one that comes before them. */
  private forgetAfter(tick: number): void {
    while (this.count > this.next && this.ticks[this.count - 1] > tick) this.count -= 1;
  }

  private grow(slot: number): void {
    const filed = ownWordsAtLeast((slot >>> 5) + 1, 2 * this.filed.length);
    filed.set(this.filed);
    this.filed = filed;
  }

  /**
   * Collects the earliest slots that are due by `tick`, in order of their ticks. Sets `earliest` to the first tick of
   * all that are filed.
   */
  private collect(tick: number): void {
    let count = 0;
    this.earliest = Number.POSITIVE_INFINITY;
    this.forEach((slot) => {
      if ((this.table.tagOf(slot) & 1) === 0) {
        this.remove(slot); // its timer has ended
        this.dropped += 1;
        return;
      }
      const due = this.tickOf(slot);
      this.earliest = min(this.earliest, due);
      if (due > tick || (count === COLLECTED && due >= this.ticks[COLLECTED - 1])) return;
      count = min(count + 1, COLLECTED);
      let at = count - 1;
      for (; at > 0 && this.ticks[at - 1] > due; at--) {
        this.ticks[at] = this.ticks[at - 1];
        this.slots[at] = this.slots[at - 1];
      }
      this.ticks[at] = due;
      this.slots[at] = slot;
    });
    this.next = 0;
    this.count = count;
  }
}
