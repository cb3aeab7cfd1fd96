import { AllocationError } from '../../errors.ts';
import { lowestOne } from '../occupancy.ts';
import type { EntryOwner } from '../tick-index.ts';
import { Cascade } from './cascade.ts';
import { type AllocateWords, CHUNK_SHIFT, CHUNK_WORDS, ENTRIES_PER_CHUNK, SLOT_MASK } from './chunk-lists.ts';
import { FAR_TICKS } from './slot-lists.ts';

// Taken once: a program may replace them.
const { ceil, min } = Math;

// V8: folded constants
const SHIFT = CHUNK_SHIFT;
const HALF = CHUNK_WORDS / 2;
const SLOT = SLOT_MASK;
/** No tick is known. */
export const UNKNOWN = -1;
/** No list, or no cell. */
export const NONE = -1;

/** A list of more chunks is not looked through for the sake of a wake. */
const SHORT_CHUNKS = 8;

/**
 * Which entry is next: by the start of the first occupied slot, which costs a look at bitmaps; or exactly, by a look at
 * that slot's entries. What a look has found is kept, and holds while that entry stays where it is.
 *
 * Where the index is, from its own time to what comes next; each is at most the one below it:
 *
 *     now                             all before it has been handed over
 *     eventFreeBefore                 min(event, end of now's block): up to there `now` may simply be set
 *     event, eventList                at most the start of the first occupied slot, and that slot
 *     earliest, its slot and cell     the earliest tick filed, if a look has found it; UNKNOWN else
 *
 * And within a call: `found`, the slot that `findEvent` has looked up last; `reading`, the list that is being handed
 * over, which is not marked as occupied meanwhile; `later`, what a look takes out of its list to file it anew.
 */
export class NextEntry extends Cascade {
  /** nextTick() if known, else UNKNOWN. Valid while this slot is in this cell for this tick. */
  protected earliest = Number.NaN; // V8: double fields
  private earliestSlot = 0;
  private earliestCell = NONE;
  /** The wheel slot whose start findEvent returned last. */
  protected found = 0;
  /** The list being handed over, else NONE. */
  protected reading = NONE;
  dropped = 0;
  refiled = 0;
  /** Slots, ticks and cells of entries that a look has found to be due later. */
  private later: number[] = [];

  constructor(levelBits: readonly number[], capacity: number, start: number, reserve: number, words?: AllocateWords) {
    super(levelBits, capacity, start, reserve, words);
    this.earliest = UNKNOWN;
  }

  nextEvent(): number {
    return this.event;
  }

  nextTick(): number {
    if (this.size === 0) return Number.POSITIVE_INFINITY;
    if (!this.isLeastKnown()) this.findLeast();
    return this.earliest;
  }

  /** `longest`: of how many chunks a list is looked through. */
  nextWanted(owner: EntryOwner, longest = SHORT_CHUNKS): number {
    while (this.size > 0) {
      if (this.isLeastKnown()) {
        if (owner.wantedAt(this.earliestSlot, this.earliest) === this.earliest) return this.earliest;
        this.earliest = UNKNOWN;
      }
      this.setEvent(this.findEvent(), this.found);
      if (this.chunkCounts[this.found] > longest) return this.event;
      if (!this.sift(this.found, owner)) return this.event;
      if (this.earliest !== UNKNOWN) return this.earliest;
    }
    return Number.POSITIVE_INFINITY;
  }

  nextDue(owner: EntryOwner): number {
    return this.nextWanted(owner, Number.POSITIVE_INFINITY);
  }

  protected setEarliest(tick: number, slot: number): void {
    this.earliest = tick;
    this.earliestSlot = slot;
    this.earliestCell = this.position[slot << this.positionShift];
  }

  /** The slot may have been removed, and refiled in the same cell for another tick. */
  protected isLeastKnown(): boolean {
    const cell = this.position[this.earliestSlot << this.positionShift];
    return this.earliest !== UNKNOWN && cell === this.earliestCell && this.tickAt(cell) === this.earliest;
  }

  /** Finds the earliest tick: in the first occupied slot with a live entry. Precondition: size > 0. */
  private findLeast(): void {
    this.earliest = UNKNOWN;
    if (this.reading !== NONE) this.readLeast(this.reading);
    while (this.earliest === UNKNOWN) {
      this.findEvent();
      this.readLeast(this.found);
      if (this.earliest === UNKNOWN) this.vacate(this.found);
    }
  }

  /** The start of the first occupied slot from now's on, Infinity if there is none; notes its number. */
  protected findEvent(): number {
    if (this.occupied[0] === 0) return this.findAbove();
    const from = this.nowLow & this.mask0;
    this.found = this.occupancy.next(from, this.mask0 + 1);
    return this.now + (this.found - from);
  }

  /** The same above level 0. */
  private findAbove(): number {
    const { geometry, now, occupancy, occupied, overflowList } = this;
    const top = geometry.levels;
    for (let level = 1; level < top; level++) {
      if (occupied[level] === 0) continue;
      const base = geometry.base[level];
      this.found = occupancy.next(geometry.slotOn(level, now), base + geometry.mask[level] + 1);
      return geometry.startOn(level + 1, now) + (this.found - base) * geometry.width[level];
    }
    if (occupied[top] === 0) return Number.POSITIVE_INFINITY;
    this.found = overflowList;
    return geometry.startOn(top, this.overflowLeast);
  }

  /**
   * Reads the earliest tick of the live entries in a slot: on level 0, whose slots are a tick wide, the first one's.
   */
  protected readLeast(list: number): void {
    const isTick = list <= this.mask0;
    for (let chunk = this.heads[list]; chunk !== 0; chunk = this.nextChunk(chunk)) {
      const end = this.endOf(list, chunk);
      for (let from = chunk << SHIFT; from < end; from += HALF) {
        for (let left = this.livingIn(from, end) | 0; left !== 0; left &= left - 1) {
          const cell = from + 2 * lowestOne(left);
          const tick = this.tickAt(cell);
          if (this.earliest === UNKNOWN || tick < this.earliest) this.setEarliest(tick, this.cells[cell] & SLOT);
          if (isTick) return;
        }
      }
    }
  }

  /**
   * Asks the owner about the entries of a wheel slot: removes what has ended, files anew what is due later, and notes
   * the earliest of the rest; on level 0 only up to the first of these. Frees the list if none is left. Returns false
   * if memory to file anew is refused: then these stay where they are.
   */
  private sift(list: number, owner: EntryOwner): boolean {
    const { later } = this;
    this.earliest = UNKNOWN;
    this.lookThrough(list, owner);
    if (later.length > 0 && !this.reserveLater()) return false;
    if (this.earliest === UNKNOWN) this.vacate(list);
    for (let at = 0; at < later.length; at += 3) {
      const [slot, tick] = [later[at], later[at + 1]];
      this.file(slot, tick);
      if (tick < this.earliest) this.setEarliest(tick, slot);
    }
    if (later.length > 0) {
      this.refiled += later.length / 3;
      this.later = [];
    }
    return true;
  }

  /** Makes sure of the memory that `later` needs. If it is refused, they are filed where they were. */
  private reserveLater(): boolean {
    const { later } = this;
    const entries = later.length / 3;
    try {
      this.reserveChunks(min(entries, this.geometry.slots + ceil(entries / ENTRIES_PER_CHUNK)));
      for (let at = 0; at < later.length; at += 3) {
        if (later[at + 1] - this.now >= FAR_TICKS) this.reserveFar(later[at]);
      }
      return true;
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
    }
    for (let at = 0; at < later.length; at += 3) this.position[later[at] << this.positionShift] = later[at + 2];
    this.size += entries;
    this.later = [];
    this.earliest = UNKNOWN;
    return false;
  }

  private lookThrough(list: number, owner: EntryOwner): void {
    const isTick = list <= this.mask0;
    for (let chunk = this.heads[list]; chunk !== 0; chunk = this.nextChunk(chunk)) {
      const end = this.endOf(list, chunk);
      for (let from = chunk << SHIFT; from < end; from += HALF) {
        for (let left = this.livingIn(from, end) | 0; left !== 0; left &= left - 1) {
          this.lookAt(from + 2 * lowestOne(left), owner);
          if (isTick && this.earliest !== UNKNOWN) return;
        }
      }
    }
  }

  private lookAt(cell: number, owner: EntryOwner): void {
    const slot = this.cells[cell] & SLOT;
    const tick = this.tickAt(cell);
    const wanted = owner.wantedAt(slot, tick);
    if (wanted === tick) {
      if (this.earliest === UNKNOWN || tick < this.earliest) this.setEarliest(tick, slot);
      return;
    }
    this.position[slot << this.positionShift] = 0;
    this.size--;
    if (wanted > tick) this.later.push(slot, wanted, cell);
    else this.dropped += 1;
  }
}
