import { CHUNK_SHIFT, CHUNK_WORDS, CHUNKS, ChunkLists, CURSOR, LINK, LIST_WORDS, TOMBSTONE } from './chunk-lists.ts';
import { LevelGeometry } from './level-geometry.ts';
import { Occupancy } from './occupancy.ts';

/** Set in the slot word of an entry that was filed 2^31 ticks or more ahead: its whole tick stands in `farTicks`. */
const FAR = 1 << 30;
const SLOT_MASK = FAR - 1;
const FAR_TICKS = 2 ** 31;
const BLOCK = 2 ** 32;
/** Entries buried at a time. */
const DOOMED = 256;

/**
 * Where slots stand for a given `now`: an entry of tick T is in the list of the wheel slot that (now, T) name, see
 * LevelGeometry. The user moves `now` only to where that keeps being so, and cascades what it moves into.
 *
 * An entry keeps the low 32 bits of its tick. Of one filed less than 2^31 ahead the rest follows from `now`, which has
 * only come nearer; and it shares now's block of 2^32 exactly if its low word is not below now's. So for nearly all, the
 * slot is found with one clz32 and one row of a table.
 *
 * Taking out is done in two halves. `remove` clears the slot's position and notes the cell; `sweep` overwrites cells in
 * batches, where the cache misses of 256 of them overlap. Until then the entries are doomed: they stand in their lists,
 * no position names them, and they are still ahead of `now`, so that any `now` finds their list.
 */
export class Filing {
  // Starts as a double, and so remains one: a field that changes its representation later would deoptimise everything.
  now = Number.NaN;
  size = 0;
  readonly geometry: LevelGeometry;
  readonly lists: ChunkLists;
  readonly occupancy: Occupancy;
  /** Occupied slots by level. */
  readonly occupied: Int32Array;
  readonly overflowList: number;
  /** A tick before which there is nothing to do: at most the start of the next occupied slot. */
  event = Number.POSITIVE_INFINITY;
  /** At most the least tick on the overflow level. */
  overflowLeast = Number.POSITIVE_INFINITY;
  /** A list that must be neither released nor compacted, as it is being read; -1 for none. */
  reading = -1;
  /** Low words of what was buried: whether the least tick may be among them. */
  leastLow = 0;
  leastBuried = false;
  private readonly capacity: number;
  private farTicks = new Float64Array(0);
  /** Low 32 bits of `now`, as a signed integer. */
  private nowLow = 0;
  /** End of the block of 2^32 ticks that holds `now`. */
  private blockEnd = Number.NaN;
  /** Ticks below it are in now's block, on a level, and less than 2^31 ahead. Conservative: set anew when it is reached. */
  private nearEnd = Number.NaN;
  /** Where ticks of now's block go, see LevelGeometry.tabulate. */
  private readonly places = new Int32Array(33 * 4);
  private readonly doomed = new Int32Array(DOOMED);
  private readonly doomedLow = new Int32Array(DOOMED);
  private doomedCount = 0;

  constructor(levelBits: readonly number[], capacity: number, start: number, reserve: number) {
    this.geometry = new LevelGeometry(levelBits);
    this.capacity = capacity;
    this.lists = new ChunkLists(this.geometry.slots, Math.min(capacity, Math.max(reserve, 256)), reserve);
    this.occupancy = new Occupancy(this.geometry.slots);
    this.occupied = new Int32Array(this.geometry.levels + 1);
    this.overflowList = this.geometry.base[this.geometry.levels];
    this.moveTo(start);
    this.enterBlock();
  }

  /** Precondition: tick > now, the slot is not filed. */
  insert(slot: number, tick: number): void {
    if (slot >= this.lists.position.length) this.lists.growPosition(slot, this.capacity);
    this.size++;
    if (tick < this.nearEnd) {
      const { places } = this;
      const low = tick | 0;
      const row = Math.clz32(low ^ this.nowLow) << 2;
      this.append(places[row] + ((low >>> places[row + 1]) & places[row + 2]), slot, slot, low, tick);
    } else {
      this.insertElsewhere(slot, tick);
    }
  }

  /** False where the slot was not filed. */
  remove(slot: number): boolean {
    const { position } = this.lists;
    if (slot >= position.length) return false;
    const cell = position[slot];
    if (cell === 0) return false;
    position[slot] = 0;
    this.size--;
    const count = this.doomedCount;
    this.doomed[count] = cell;
    this.doomedCount = count + 1;
    if (count + 1 === DOOMED || this.reading >= 0) this.sweep();
    return true;
  }

  has(slot: number): boolean {
    return slot < this.lists.position.length && this.lists.position[slot] !== 0;
  }

  /** For readers of the lists: the slot that a cell holds, and its tick. Precondition: not a tombstone. */
  slotAt(cell: number): number {
    return this.lists.cells[cell] & SLOT_MASK;
  }

  tickAt(cell: number): number {
    const { cells } = this.lists;
    const word = cells[cell];
    return (word & FAR) !== 0 ? this.farTicks[word & SLOT_MASK] : this.now + ((cells[cell + 1] - this.nowLow) >>> 0);
  }

  /** Moves `now`. Nothing is cascaded. */
  moveTo(tick: number): void {
    this.now = tick;
    this.nowLow = tick | 0;
    if (tick >= this.blockEnd) this.enterBlock();
  }

  /** Empties the list of a wheel slot at whose start `now` stands by filing all it holds anew, in order. */
  refile(list: number): void {
    const { geometry, lists } = this;
    const level = geometry.levelOf[list];
    const last = lists.tail(list);
    const end = lists.endOf(list, last);
    this.occupancy.unset(list);
    this.occupied[level]--;
    if (list === this.overflowList) this.overflowLeast = Number.POSITIVE_INFINITY;
    const near = level < geometry.levels && geometry.width[level] <= FAR_TICKS;
    for (let chunk = lists.detach(list), next = 0; chunk !== 0; chunk = next) {
      const stop = chunk === last ? end : (chunk << CHUNK_SHIFT) + LINK;
      if (near) this.refileNear(chunk << CHUNK_SHIFT, stop);
      else this.refileFar(chunk << CHUNK_SHIFT, stop);
      next = chunk === last ? 0 : lists.next(chunk);
      lists.free(chunk);
    }
  }

  /**
   * Buries the doomed. Three passes: the first does nothing but read the cells, so that as many cache misses as possible
   * overlap; the second overwrites them and finds their lists; the third counts, as no list may be compacted before the
   * last of its doomed cells is overwritten.
   */
  sweep(): void {
    const { doomed, doomedLow, doomedCount, leastLow, lists, nowLow, places } = this;
    const { cells } = lists;
    this.doomedCount = 0;
    for (let i = 0; i < doomedCount; i++) doomedLow[i] = cells[doomed[i] + 1];
    for (let i = 0; i < doomedCount; i++) {
      const cell = doomed[i];
      const low = doomedLow[i];
      if ((cells[cell] & FAR) === 0 && low >>> 0 >= nowLow >>> 0) {
        const row = Math.clz32(low ^ nowLow) << 2;
        doomed[i] = places[row] + ((low >>> places[row + 1]) & places[row + 2]);
      } else {
        doomed[i] = this.listOf(this.tickAt(cell));
      }
      cells[cell] = TOMBSTONE;
      if (low === leastLow) this.leastBuried = true;
    }
    for (let i = 0; i < doomedCount; i++) {
      const list = doomed[i];
      const live = lists.bury(list);
      if (list === this.reading) continue;
      if (live === 0) this.vacate(list);
      else if (lists.wasteful(list, live)) lists.compact(list, SLOT_MASK);
    }
  }

  clear(): void {
    this.doomedCount = 0;
    this.size = 0;
    this.lists.clear();
    this.occupancy.clear();
    this.occupied.fill(0);
    this.overflowLeast = Number.POSITIVE_INFINITY;
    this.reading = -1;
  }

  get bytes(): number {
    return this.lists.bytes + this.occupancy.bytes + this.farTicks.byteLength + this.geometry.bytes;
  }

  private append(list: number, slot: number, word: number, low: number, tick: number): void {
    const { lists } = this;
    const at = list * LIST_WORDS + CURSOR;
    let cell = lists.lists[at];
    if ((cell & (CHUNK_WORDS - 1)) === LINK) cell = this.extend(list, tick);
    lists.cells[cell] = word;
    lists.cells[cell + 1] = low;
    lists.position[slot] = cell;
    lists.lists[at] = cell + 2;
  }

  private extend(list: number, tick: number): number {
    const cell = this.lists.extend(list);
    if (this.lists.lists[list * LIST_WORDS + CHUNKS] === 1) this.occupy(list, tick);
    return cell;
  }

  private insertElsewhere(slot: number, tick: number): void {
    this.setNearEnd();
    this.appendAnywhere(slot, tick - this.now < FAR_TICKS ? slot : this.keepFar(slot, tick), tick);
  }

  private appendAnywhere(slot: number, word: number, tick: number): void {
    const list = this.listOf(tick);
    this.append(list, slot, word, tick | 0, tick);
    if (list === this.overflowList && tick < this.overflowLeast) {
      this.overflowLeast = tick;
      this.noteEvent(list, tick);
    }
  }

  private refileNear(from: number, to: number): void {
    const { lists, nowLow, places } = this;
    for (let cell = from; cell < to; cell += 2) {
      const word = lists.cells[cell];
      if (word === TOMBSTONE) continue;
      const low = lists.cells[cell + 1];
      const row = Math.clz32(low ^ nowLow) << 2;
      const slot = word & SLOT_MASK;
      // As no event lies below it, occupying a list needs the low word alone.
      this.append(places[row] + ((low >>> places[row + 1]) & places[row + 2]), slot, slot, low, this.now);
    }
  }

  private refileFar(from: number, to: number): void {
    for (let cell = from; cell < to; cell += 2) {
      const word = this.lists.cells[cell];
      if (word === TOMBSTONE) continue;
      const tick = this.tickAt(cell);
      this.appendAnywhere(word & SLOT_MASK, tick - this.now < FAR_TICKS ? word & SLOT_MASK : word, tick);
    }
  }

  private listOf(tick: number): number {
    if (tick >= this.blockEnd) return this.geometry.slotAcrossBlocks(tick, this.now);
    const row = Math.clz32(tick ^ this.nowLow) << 2;
    return this.places[row] + (((tick | 0) >>> this.places[row + 1]) & this.places[row + 2]);
  }

  private occupy(list: number, tick: number): void {
    this.occupancy.set(list);
    this.occupied[this.geometry.levelOf[list]]++;
    this.noteEvent(list, tick);
  }

  private noteEvent(list: number, tick: number): void {
    const start = this.geometry.startOn(this.geometry.levelOf[list], tick);
    if (start < this.event) this.event = start;
  }

  private vacate(list: number): void {
    this.lists.release(list);
    this.occupancy.unset(list);
    this.occupied[this.geometry.levelOf[list]]--;
    if (list === this.overflowList) this.overflowLeast = Number.POSITIVE_INFINITY;
  }

  private keepFar(slot: number, tick: number): number {
    // An entry of this slot's that is doomed but not buried yet has its tick here.
    if (this.doomedCount > 0) this.sweep();
    if (slot >= this.farTicks.length) {
      const farTicks = new Float64Array(this.lists.position.length);
      farTicks.set(this.farTicks);
      this.farTicks = farTicks;
    }
    this.farTicks[slot] = tick;
    return slot | FAR;
  }

  private enterBlock(): void {
    const block = Math.floor(this.now / BLOCK) * BLOCK;
    this.blockEnd = block + BLOCK;
    this.setNearEnd();
    this.geometry.tabulate(block, this.places);
  }

  private setNearEnd(): void {
    const { geometry, now } = this;
    const levelsEnd = geometry.startOn(geometry.levels, now) + geometry.width[geometry.levels];
    this.nearEnd = Math.min(this.blockEnd, now + FAR_TICKS, levelsEnd);
  }
}
