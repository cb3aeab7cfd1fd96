import { AllocationError } from '../../errors.ts';
import { ownDoubles, ownWords } from '../../memory/own-words.ts';
import type { CompactionConfig } from '../wheel-config.ts';

const INITIAL = 8;
const HOLE = -1;

/**
 * One spoke of a pinned wheel: a growable vector of slots, all handed over at one tick.
 *
 *    front        used      capacity
 *      ▼            ▼           ▼
 *   ····abc·d·efgh·i┊           ┊       · hole, reused last freed first
 *
 * Each entry keeps its filing number. Reusing a hole puts a late filing before earlier ones, so a spoke in which
 * that happened is sorted once, when its hand-over begins (`sortEntries`). O(1) except for that, growth and compaction.
 */
export class Spoke {
  /** Slot by entry, or HOLE. */
  entries: Int32Array = new Int32Array(INITIAL);
  private filings = new Float64Array(INITIAL);
  private holes: number[] = [];
  private used = 0;
  private front = 0;
  private ordered = true;
  count = 0;

  get capacity(): number {
    return this.entries.length;
  }

  /** Adds a slot; returns its entry. If memory is refused, throws and changes nothing. */
  add(slot: number, filing: number): number {
    this.reserve();
    const hole = this.holes.pop();
    const entry = hole ?? this.used++;
    if (hole !== undefined) this.ordered = false;
    this.entries[entry] = slot;
    this.filings[entry] = filing;
    this.count++;
    return entry;
  }

  /** Makes room for another slot. If memory is refused, throws and changes nothing. */
  reserve(): void {
    if (this.holes.length === 0 && this.used === this.entries.length) this.resize(this.used * 2);
  }

  remove(entry: number): void {
    this.entries[entry] = HOLE;
    this.holes.push(entry);
    this.count--;
  }

  /**
   * Sorts the entries by filing number and closes the gaps; `place` gets each new place. Nothing is added from then on.
   */
  sortEntries(place: (slot: number, entry: number) => void): void {
    if (this.ordered) return;
    this.repack(this.capacity, place);
  }

  /** The filing number of the first entry, which is the smallest. Precondition: sorted, count > 0. */
  first(): number {
    while (this.entries[this.front] === HOLE) this.front++;
    return this.filings[this.front];
  }

  /** The slot of the first entry. Precondition: as for `first`, which was called. */
  get slot(): number {
    return this.entries[this.front];
  }

  /** Removes the first entry. Precondition: as for `first`, which was called. */
  shift(): number {
    const slot = this.entries[this.front];
    this.entries[this.front++] = HOLE;
    this.count--;
    return slot;
  }

  wasteful({ minCapacity, ratio }: CompactionConfig): boolean {
    return this.capacity >= minCapacity && this.count * ratio < this.capacity;
  }

  /** Frees memory and keeps the order of filing. If memory is refused, nothing changes: it may stay wasteful. */
  compact({ targetMultiplier }: CompactionConfig, place: (slot: number, entry: number) => void): void {
    try {
      this.repack(Math.max(INITIAL, this.count * targetMultiplier), place);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
    }
  }

  /** Slots in no particular order, those too that are added meanwhile; one that has been visited may be removed. */
  *[Symbol.iterator](): Generator<number> {
    for (let entry = this.front; entry < this.used; entry++) {
      const slot = this.entries[entry];
      if (slot !== HOLE) yield slot;
    }
  }

  /** Slots in order of filing. */
  slots(): number[] {
    return this.live().map((entry) => this.entries[entry]);
  }

  get bytes(): number {
    return this.entries.byteLength + this.filings.byteLength + 8 * this.holes.length;
  }

  private live(): number[] {
    const live: number[] = [];
    for (let entry = this.front; entry < this.used; entry++) if (this.entries[entry] !== HOLE) live.push(entry);
    return this.ordered ? live : live.sort((a, b) => this.filings[a] - this.filings[b]);
  }

  private repack(capacity: number, place: (slot: number, entry: number) => void): void {
    const { entries, filings } = this;
    const live = this.live();
    const [words, doubles] = [ownWords(capacity), ownDoubles(capacity)]; // both, before anything changes
    this.entries = words;
    this.filings = doubles;
    live.forEach((from, to) => {
      this.entries[to] = entries[from];
      this.filings[to] = filings[from];
      place(entries[from], to);
    });
    this.holes = [];
    this.front = 0;
    this.used = live.length;
    this.ordered = true;
  }

  private resize(capacity: number): void {
    const entries = ownWords(capacity);
    const filings = ownDoubles(capacity);
    entries.set(this.entries);
    filings.set(this.filings);
    this.entries = entries;
    this.filings = filings;
  }
}
