import { ownDoubles, ownWords } from '../../memory/own-words.ts';
import { levelOccupancy, Occupancy } from '../occupancy.ts';
import type { LevelOccupancy } from '../tick-index.ts';
import { type AllocateWords, CHUNK_WORDS, ChunkLists, ENTRIES_PER_CHUNK, LINK, SLOT_MASK } from './chunk-lists.ts';
import { LevelGeometry } from './level-geometry.ts';

// Taken once: a program may replace them.
const { clz32, floor, min } = Math;

/** Set in the slot word of an entry that was filed FAR_TICKS or more ahead: its whole tick is in `farTicks`. */
export const FAR = 1 << 30;
export const FAR_TICKS = 2 ** 31;
const BLOCK = 2 ** 32;

// V8: folded constants
const LINK_AT = LINK;
const IN_CHUNK = CHUNK_WORDS - 1;
const SLOT = SLOT_MASK;

/**
 * The places of slots for a given `now`: an entry of tick T is in the list of the wheel slot that (now, T) name, see
 * LevelGeometry. The user moves `now` only where this stays true, and cascades the slot that it moves into (see
 * Cascade).
 *
 * An entry stores the low 32 bits of its tick. If it was filed less than 2^31 ahead, the rest follows from `now`, which
 * has only come nearer. It shares now's block of 2^32 exactly if its low word is not below now's. So for nearly all
 * entries one clz32 and one row of a table give the slot.
 *
 * Removing touches no list. Readers skip dead entries, so an occupied list may turn out to have no live entry;
 * `occupied` means that it has chunks.
 *
 * The class extends the lists, and the index extends it, instead of holding one another: every object on the way to a
 * word costs its loads and checks in each operation, and these delay the next operation's cache misses.
 */
export class SlotLists extends ChunkLists {
  // V8: double fields
  now = Number.NaN;
  size = 0;
  // V8: declared fields
  readonly geometry: LevelGeometry;
  readonly occupancy: Occupancy;
  /** Occupied slots by level. */
  readonly occupied: Int32Array;
  readonly overflowList: number;
  /** A tick before which there is nothing to do: at most the start of the next occupied slot. */
  protected event = Number.POSITIVE_INFINITY;
  /** The wheel slot that starts at `event`. If it has been emptied since, the next occupied one may start later. */
  protected eventList = 0;
  /** Ticks below it are before `event` and in now's block: `now` may simply be set to them. */
  protected eventFreeBefore = Number.NaN;
  /** At most the earliest tick on the overflow level. */
  protected overflowLeast = Number.POSITIVE_INFINITY;
  private farTicks = new Float64Array(0);
  /** Low 32 bits of `now`, as a signed integer. */
  protected nowLow = 0;
  /** End of the block of 2^32 ticks that holds `now`. */
  private blockEnd = Number.NaN;
  /**
   * Ticks below it are in now's block, on a level, and less than 2^31 ahead. Conservative: it moves on when it is
   * reached.
   */
  directEnd = Number.NaN;
  /** The places of ticks of now's block, see LevelGeometry.tabulate. */
  protected readonly places: Int32Array = new Int32Array(33);
  /** The list that was compacted last. */
  private compacted = 0;
  /** Level 0 is the lists up to this number; a tick's low bits name one of them. */
  protected readonly mask0: number;
  /** Lists that have chunks. */
  private listsInUse = 0;

  constructor(levelBits: readonly number[], capacity: number, start: number, reserve: number, words?: AllocateWords) {
    const geometry = new LevelGeometry(levelBits);
    super(geometry.slots, capacity, reserve, words);
    this.geometry = geometry;
    this.occupancy = new Occupancy(geometry.slots);
    this.occupied = ownWords(geometry.levels + 1);
    this.overflowList = geometry.base[geometry.levels];
    this.mask0 = geometry.mask[0];
    this.moveTo(start);
    this.enterBlock();
  }

  has(slot: number): boolean {
    return this.position[slot << this.positionShift] > 0;
  }

  /** For readers of the lists: the live slot in a cell, or -1. */
  slotAt(cell: number): number {
    const slot = this.cells[cell] & SLOT;
    return this.position[slot << this.positionShift] === cell ? slot : -1;
  }

  /** The tick of the live entry in a cell. */
  tickAt(cell: number): number {
    const { cells } = this;
    const word = cells[cell];
    return (word & FAR) !== 0 ? this.farTicks[word & SLOT] : this.now + ((cells[cell + 1] - this.nowLow) >>> 0);
  }

  /** Counts entries by chunk, without a look at any. */
  levels(): LevelOccupancy[] {
    const { chunkCounts, cursors, geometry, now, occupancy } = this;
    const entriesOf = (list: number) =>
      (chunkCounts[list] - 1) * ENTRIES_PER_CHUNK + ((cursors[list] & (CHUNK_WORDS - 1)) >> 1);
    return Array.from(geometry.width, (width, level) =>
      levelOccupancy(occupancy, { base: geometry.base[level], slots: geometry.mask[level] + 1, width, now }, entriesOf),
    );
  }

  bytesFor(slots: number): number {
    const { farTicks } = this;
    const cells = this.usedBytesOfCells + this.bytesPerLists;
    const perSlot = min(slots, this.room) << (this.positionShift + 2);
    return cells + perSlot + this.occupancy.bytes + farTicks.byteLength + this.geometry.bytes;
  }

  get bytes(): number {
    return this.bytesOfLists + this.occupancy.bytes + this.farTicks.byteLength + this.geometry.bytes;
  }

  /** Precondition: tick > now, the slot is not filed. */
  protected file(slot: number, tick: number): void {
    if (slot >= this.room) this.growPosition(slot);
    if (tick < this.directEnd) this.fileDirect(slot, tick);
    else this.fileElsewhere(slot, tick);
  }

  /** Further precondition: tick < directEnd, and there is room for the slot's position. */
  protected fileDirect(slot: number, tick: number): void {
    const low = tick | 0;
    const place = this.places[clz32(low ^ this.nowLow)];
    const list = (place >>> 10) + ((low >>> place) & ~(-1 << (place >>> 5)));
    // As `append` does. V8: short paths
    let cell = this.cursors[list];
    if ((cell & IN_CHUNK) === LINK_AT) cell = this.extend(list, tick);
    const { cells } = this;
    cells[cell] = slot;
    cells[cell + 1] = low;
    this.position[slot << this.positionShift] = cell;
    this.cursors[list] = cell + 2;
    this.size++; // last: memory may be refused
  }

  /** Moves `now`. Nothing is cascaded. */
  protected moveTo(tick: number): void {
    this.now = tick;
    this.nowLow = tick | 0;
    if (tick >= this.blockEnd) this.enterBlock();
  }

  /** Moves `now` to a tick that may have passed. V8: short paths */
  protected catchUp(tick: number): void {
    if (tick > this.now) this.moveTo(tick);
  }

  protected setEvent(tick: number, list: number): void {
    this.event = tick;
    this.eventList = list;
    this.eventFreeBefore = min(tick, this.blockEnd);
  }

  /** Frees the chunks of a list without live entries. */
  protected vacate(list: number): void {
    this.unoccupy(list);
    this.release(list);
  }

  protected occupy(list: number): void {
    this.occupancy.set(list);
    this.occupied[this.geometry.levelOf[list]]++;
    this.listsInUse++;
  }

  /** Marks a list as unoccupied. If it keeps its chunks, it is being read, and no method here touches it. */
  protected unoccupy(list: number): void {
    this.occupancy.unset(list);
    this.occupied[this.geometry.levelOf[list]]--;
    this.listsInUse--;
    if (list === this.overflowList) this.overflowLeast = Number.POSITIVE_INFINITY;
  }

  protected clearFiling(): void {
    this.size = 0;
    this.clearLists();
    this.occupancy.clear();
    this.occupied.fill(0);
    this.listsInUse = 0;
    this.overflowLeast = Number.POSITIVE_INFINITY;
  }

  private append(list: number, slot: number, word: number, low: number, tick: number): void {
    let cell = this.cursors[list];
    if ((cell & IN_CHUNK) === LINK_AT) cell = this.extend(list, tick);
    const { cells } = this;
    cells[cell] = word;
    cells[cell + 1] = low;
    this.position[slot << this.positionShift] = cell;
    this.cursors[list] = cell + 2;
  }

  /**
   * Gives a list another chunk, after compacting one if the dead take too much room. Returns the list's next cell. If
   * memory is refused, throws and changes nothing that is filed.
   */
  protected extend(list: number, tick: number): number {
    if (this.isWasteful(this.size, this.listsInUse)) {
      this.compactNext();
      // This list may have been compacted.
      const cell = this.cursors[list];
      if ((cell & IN_CHUNK) !== LINK_AT) return cell;
    }
    this.reserveChunks(1);
    if (this.heads[list] === 0) {
      this.occupy(list);
      this.noteEvent(list, tick);
    }
    return this.addChunk(list);
  }

  /** Compacts the next list in turn: one round removes every dead entry. */
  private compactNext(): void {
    const { geometry, occupancy } = this;
    let list = occupancy.next(this.compacted + 1, geometry.slots);
    if (list < 0) list = occupancy.next(0, geometry.slots);
    if (list < 0) return;
    this.compacted = list === geometry.slots - 1 ? -1 : list;
    if (!this.compact(list)) this.vacate(list);
  }

  private fileElsewhere(slot: number, tick: number): void {
    this.setDirectEnd();
    this.appendAnywhere(slot, tick - this.now < FAR_TICKS ? slot : this.keepFar(slot, tick), tick);
    this.size++; // last: memory may be refused
  }

  /** Files a slot anywhere. Returns the list. */
  protected appendAnywhere(slot: number, word: number, tick: number): number {
    const list = this.listOf(tick);
    this.append(list, slot, word, tick | 0, tick);
    if (list === this.overflowList && tick < this.overflowLeast) {
      this.overflowLeast = tick;
      this.noteEvent(list, tick);
    }
    return list;
  }

  private listOf(tick: number): number {
    return tick >= this.blockEnd ? this.geometry.slotAcrossBlocks(tick, this.now) : this.placeOf(tick | 0);
  }

  /** The list of a tick of now's block, by its low word. */
  protected placeOf(low: number): number {
    const place = this.places[clz32(low ^ this.nowLow)];
    return (place >>> 10) + ((low >>> place) & ~(-1 << (place >>> 5)));
  }

  private noteEvent(list: number, tick: number): void {
    const start = this.geometry.startOn(this.geometry.levelOf[list], tick);
    if (start < this.event) this.setEvent(start, list);
  }

  private keepFar(slot: number, tick: number): number {
    this.reserveFar(slot);
    this.farTicks[slot] = tick;
    return slot | FAR;
  }

  /** Makes room for the whole tick of `slot`. If memory is refused, throws and changes nothing. */
  protected reserveFar(slot: number): void {
    if (slot < this.farTicks.length) return;
    const farTicks = ownDoubles(this.room);
    farTicks.set(this.farTicks);
    this.farTicks = farTicks;
  }

  private enterBlock(): void {
    const block = floor(this.now / BLOCK) * BLOCK;
    this.blockEnd = block + BLOCK;
    this.setDirectEnd();
    this.setEvent(this.event, this.eventList);
    this.geometry.tabulate(block, this.places);
  }

  private setDirectEnd(): void {
    const { geometry, now } = this;
    const levelsEnd = geometry.startOn(geometry.levels, now) + geometry.width[geometry.levels];
    this.directEnd = min(this.blockEnd, now + FAR_TICKS, levelsEnd);
  }
}
