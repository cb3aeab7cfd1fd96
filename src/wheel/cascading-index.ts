import { CHUNK_SHIFT, ChunkLists, LINK, TOMBSTONE } from './chunk-lists.ts';
import { inspectCascading } from './inspect-cascading.ts';
import { LevelGeometry } from './level-geometry.ts';
import { Occupancy } from './occupancy.ts';
import type { DueSink } from './tick-index.ts';
import type { LevelStats } from './timing-wheel.ts';
import type { WheelIndex } from './wheel-index.ts';
import type { IndexSnapshot } from './wheel-snapshot.ts';

/** Set in the slot word of an entry that was filed 2^31 ticks or more ahead: its whole tick stands in `farTicks`. */
const FAR = 1 << 30;
const SLOT_MASK = FAR - 1;
const FAR_TICKS = 2 ** 31;
const BLOCK = 2 ** 32;
const UNKNOWN = -1;
const NONE = -1;
/** Entries buried at a time. */
const DOOMED = 256;

export interface CascadingIndexOptions {
  /** Bits of a tick that each level covers, the finest first. Each 1..24, at most 53 in all. */
  readonly levelBits: readonly number[];
  /** Slot numbers go from 0 to capacity - 1; at most 2^30. */
  readonly capacity: number;
  /** What becomes of ticks at or beyond the levels' range: held in a list (the default), or refused (`upperBound`). */
  readonly overflow?: 'list' | 'throw';
  /** The first `now`. Default 0. */
  readonly start?: number;
  /** Entries to make room for at once, so that nothing is ever copied to grow. Memory is touched only as it is used. */
  readonly reserve?: number;
}

/**
 * Hierarchical timing wheel over integer ticks. An entry of tick T stands on the level of the highest bit in which T
 * differs from `now`, in the slot that T's bits of that level name: always, also for entries filed long ago, since
 * advancing over the start of an occupied slot cascades it. So where an entry stands follows from (now, T), and none
 * keeps a back pointer. Of the invariants, this one matters:
 *
 *    on each level, occupied slots lie after now's own (on level 0 also at it, while its entries are being handed over),
 *    and everything on a level is due before anything on the next
 *
 * so the next thing to do is the first occupied slot after now's on the lowest level that has one; nothing wraps round,
 * and a jump over empty time costs the same whatever its length. Entries of one tick always stand in one slot, in the
 * order in which they were filed; cascading keeps the order, so they are handed over in it.
 *
 * insert: O(1), touching its slot's last cell and its position. remove: O(1), touching position and cell; now and then
 * a slot is compacted, O(1) amortised. advanceTo: O(levels) per occupied slot met, and each entry cascades at most once
 * per level (once more for each time that the clock passes the whole range while it waits in the overflow list).
 * nextTick: exact; one slot's entries are read where it is not cached.
 *
 * After: tokio `runtime/time/wheel`, ratas (canonical placement); storage measured here, see ChunkLists.
 */
export class CascadingIndex implements WheelIndex {
  // Starts as a double, and so remains one: a field that changes its representation later would deoptimise everything.
  now = Number.NaN;
  size = 0;
  cascaded = 0;
  readonly capacity: number;
  readonly geometry: LevelGeometry;
  readonly lists: ChunkLists;
  readonly occupancy: Occupancy;
  /** Occupied slots by level. These three are for `inspectCascading` to read. */
  readonly occupied: Int32Array;
  /** Where ticks of now's block of 2^32 go, see LevelGeometry.tabulate. */
  private readonly places = new Int32Array(33 * 4);
  private readonly overflowList: number;
  /** Cells of entries taken out but not overwritten yet: their slots' positions are 0 already. See sweep. */
  private readonly doomed = new Int32Array(DOOMED);
  private readonly doomedLow = new Int32Array(DOOMED);
  private doomedCount = 0;
  private readonly refuses: boolean;
  private farTicks: Float64Array = new Float64Array(0);
  /** Low 32 bits of `now`, as a signed integer. */
  private nowLow: number;
  /** End of the block of 2^32 ticks that holds `now`. */
  private blockEnd = Number.NaN;
  /** Ticks below it are in now's block and less than 2^31 ahead. Conservative: set anew when a tick reaches it. */
  private nearEnd = Number.NaN;
  /** A tick before which there is nothing to do: <= the start of the next occupied slot. */
  private event = Number.POSITIVE_INFINITY;
  /** nextTick() where it is known, else UNKNOWN. */
  private least = Number.POSITIVE_INFINITY;
  /** At most the least tick on the overflow level. */
  private overflowLeast = Number.POSITIVE_INFINITY;
  /** Level and slot of the event that findEvent returned last. */
  private eventLevel = 0;
  private eventSlot = 0;
  /** The slot being handed over, else NONE: it must neither be released nor compacted under its reader. */
  private handing = NONE;
  private advancing = false;

  constructor(options: CascadingIndexOptions) {
    const { levelBits, capacity, overflow = 'list', start = 0, reserve = 0 } = options;
    this.geometry = new LevelGeometry(levelBits);
    this.capacity = capacity;
    this.lists = new ChunkLists(this.geometry.slots, Math.min(capacity, Math.max(reserve, 256)), reserve);
    this.occupancy = new Occupancy(this.geometry.slots);
    this.occupied = new Int32Array(this.geometry.levels + 1);
    this.overflowList = this.geometry.base[this.geometry.levels];
    this.refuses = overflow === 'throw';
    this.now = start;
    this.nowLow = start | 0;
    this.enterBlock();
  }

  /**
   * Where an overflow list is not wanted, `now` + the levels' range is the last tick taken: so every key of that many
   * bits from `now` on can be filed one tick later, which is how intervals fire (see TimingWheel, rounding 'next').
   * What lies within the bound but in the next block of the top level waits on the overflow level all the same.
   */
  get upperBound(): number {
    if (!this.refuses) return Number.POSITIVE_INFINITY;
    return Math.min(this.now + this.geometry.width[this.geometry.levels] + 1, 2 ** 53);
  }

  get bytes(): number {
    return this.lists.bytes + this.occupancy.bytes + this.farTicks.byteLength + this.geometry.bytes;
  }

  insert(slot: number, tick: number): void {
    const { lists } = this;
    if (slot >= lists.position.length) lists.growPosition(slot, this.capacity);
    if (!(tick > this.now && tick < this.nearEnd)) {
      this.insertElsewhere(slot, tick > this.now ? tick : this.now + 1);
      return;
    }
    const { places } = this;
    const low = tick | 0;
    const row = Math.clz32(low ^ this.nowLow) << 2;
    const list = places[row] + ((low >>> places[row + 1]) & places[row + 2]);
    this.size++;
    if (tick < this.least) this.least = tick;
    if (lists.append(list, slot, slot, low) === 1 || list === this.overflowList) this.occupy(list, tick);
  }

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
    if (count + 1 === DOOMED || this.advancing) this.sweep();
    return true;
  }

  has(slot: number): boolean {
    return slot < this.lists.position.length && this.lists.position[slot] !== 0;
  }

  tickOf(slot: number): number {
    const cell = this.lists.position[slot];
    return this.decode(slot, this.lists.cells[cell], this.lists.cells[cell + 1]);
  }

  /** For readers of the lists: the slot that a cell holds, and its tick. Precondition: not a tombstone. */
  slotAt(cell: number): number {
    return this.lists.cells[cell] & SLOT_MASK;
  }

  tickAt(cell: number): number {
    const word = this.lists.cells[cell];
    return this.decode(word & SLOT_MASK, word, this.lists.cells[cell + 1]);
  }

  /** From within a sink, anything but a tick that is already past is an Error: the outer call is going there anyway. */
  advanceTo(tick: number, sink: DueSink, budget: number): boolean {
    if (tick >= this.event) return this.advance(tick, sink, budget);
    if (tick > this.now) this.moveTo(tick);
    return true;
  }

  nextEvent(): number {
    return this.event;
  }

  nextTick(): number {
    if (this.doomedCount > 0) this.sweep();
    if (this.handing !== NONE && this.lists.live(this.handing) > 0) return this.now;
    if (this.least === UNKNOWN) {
      const event = this.findEvent();
      this.least = event === Number.POSITIVE_INFINITY || this.eventLevel === 0 ? event : this.leastIn(this.eventSlot);
    }
    return this.least;
  }

  forEach(visit: (slot: number, tick: number) => void): void {
    const { position } = this.lists;
    for (let slot = 0; slot < position.length; slot++) if (position[slot] !== 0) visit(slot, this.tickOf(slot));
  }

  levelRanges(): number[] {
    return Array.from(this.geometry.width.subarray(1));
  }

  levelStats(): LevelStats[] {
    return this.inspect().levels.map(({ slots, lists }) => {
      const timers = lists.reduce((sum, list) => sum + list.live, 0);
      const capacity = lists.reduce((sum, list) => sum + list.capacity, 0);
      return { slots, capacity, timers, utilization: capacity === 0 ? 0 : timers / capacity };
    });
  }

  inspect(): IndexSnapshot {
    this.sweep();
    return inspectCascading(this);
  }

  clear(): void {
    this.doomedCount = 0;
    this.lists.clear();
    this.occupancy.clear();
    this.occupied.fill(0);
    this.size = 0;
    this.least = Number.POSITIVE_INFINITY;
    this.overflowLeast = Number.POSITIVE_INFINITY;
    // Under a sink the event stays: it keeps a nested advanceTo out.
    if (!this.advancing) this.event = Number.POSITIVE_INFINITY;
    this.handing = NONE;
  }

  /** insert, for ticks in another block of 2^32 than `now`, or far ahead. */
  private insertElsewhere(slot: number, tick: number): void {
    // The bound may have been set long ago.
    this.nearEnd = Math.min(this.blockEnd, this.now + FAR_TICKS);
    this.size++;
    if (tick < this.least) this.least = tick;
    this.file(slot, tick - this.now < FAR_TICKS ? slot : this.fileFar(slot, tick), tick);
  }

  /** Appends an entry where it belongs. */
  private file(slot: number, word: number, tick: number): void {
    const list = this.listOf(tick);
    if (this.lists.append(list, slot, word, tick | 0) === 1 || list === this.overflowList) this.occupy(list, tick);
  }

  private listOf(tick: number): number {
    if (tick >= this.blockEnd) return this.geometry.slotAcrossBlocks(tick, this.now);
    const row = Math.clz32(tick ^ this.nowLow) << 2;
    return this.places[row] + (((tick | 0) >>> this.places[row + 1]) & this.places[row + 2]);
  }

  /** Notes that a list has got its first entry, or the overflow list one more. */
  private occupy(list: number, tick: number): void {
    const level = this.geometry.levelOf[list];
    if (!this.occupancy.has(list)) {
      this.occupancy.set(list);
      this.occupied[level]++;
    }
    if (list === this.overflowList && tick < this.overflowLeast) this.overflowLeast = tick;
    const start = this.geometry.startOn(level, tick);
    if (start < this.event) this.event = start;
  }

  private vacate(list: number): void {
    this.lists.release(list);
    this.occupancy.unset(list);
    this.occupied[this.geometry.levelOf[list]]--;
    if (list === this.overflowList) this.overflowLeast = Number.POSITIVE_INFINITY;
  }

  /**
   * Buries the entries that were taken out since the last sweep. Three passes: the first does nothing but read the
   * cells, so that as many cache misses as possible overlap; the second overwrites them and finds their lists; the third
   * counts, as no list may be compacted before the last of its doomed cells is overwritten.
   */
  private sweep(): void {
    const { doomed, doomedLow, doomedCount, lists, nowLow, places } = this;
    const { cells } = lists;
    const leastLow = this.least | 0;
    this.doomedCount = 0;
    for (let i = 0; i < doomedCount; i++) doomedLow[i] = cells[doomed[i] + 1];
    for (let i = 0; i < doomedCount; i++) {
      const cell = doomed[i];
      const word = cells[cell];
      const low = doomedLow[i];
      cells[cell] = TOMBSTONE;
      if ((word & FAR) === 0 && low >>> 0 >= nowLow >>> 0) {
        // Less than 2^32 ahead and not below now's low word: in the same block.
        const row = Math.clz32(low ^ nowLow) << 2;
        doomed[i] = places[row] + ((low >>> places[row + 1]) & places[row + 2]);
      } else {
        doomed[i] = this.listOf(this.decode(word & SLOT_MASK, word, low));
      }
      if (low === leastLow) this.least = UNKNOWN;
    }
    for (let i = 0; i < doomedCount; i++) {
      const list = doomed[i];
      if (lists.bury(list) === 0) {
        if (list !== this.handing) this.vacate(list);
      } else if (lists.wasteful(list) && list !== this.handing) {
        lists.compact(list, SLOT_MASK);
      }
    }
  }

  private fileFar(slot: number, tick: number): number {
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

  private decode(slot: number, word: number, low: number): number {
    return (word & FAR) !== 0 ? this.farTicks[slot] : this.now + ((low - this.nowLow) >>> 0);
  }

  /** Moves `now` to where nothing occupied lies before. */
  private moveTo(tick: number): void {
    this.now = tick;
    this.nowLow = tick | 0;
    if (tick >= this.blockEnd) this.enterBlock();
  }

  private enterBlock(): void {
    const block = Math.floor(this.now / BLOCK) * BLOCK;
    this.blockEnd = block + BLOCK;
    this.nearEnd = Math.min(this.blockEnd, this.now + FAR_TICKS);
    this.geometry.tabulate(block, this.places);
  }

  /** The start of the first occupied slot from now's on, Infinity when there is none; notes its level and number. */
  private findEvent(): number {
    const { geometry, occupied } = this;
    const top = geometry.levels;
    for (let level = 0; level < top; level++) {
      if (occupied[level] === 0) continue;
      const base = geometry.base[level];
      const slot = this.occupancy.next(geometry.slotOn(level, this.now), base + geometry.mask[level] + 1);
      this.eventLevel = level;
      this.eventSlot = slot;
      return geometry.startOn(level + 1, this.now) + (slot - base) * geometry.width[level];
    }
    if (occupied[top] === 0) return Number.POSITIVE_INFINITY;
    this.eventLevel = top;
    this.eventSlot = geometry.base[top];
    return geometry.startOn(top, this.overflowLeast);
  }

  private advance(tick: number, sink: DueSink, budget: number): boolean {
    if (this.advancing) throwNested();
    if (this.doomedCount > 0) this.sweep();
    let left = budget;
    this.advancing = true;
    try {
      for (;;) {
        const event = this.findEvent();
        this.event = event;
        if (event > tick) {
          if (tick > this.now) this.moveTo(tick);
          return true;
        }
        // Out of budget, `now` stays where it is; unless nothing is due at all, which a slot of a higher level does not tell.
        if (left <= 0 && this.nextTick() <= tick) return false;
        if (this.eventLevel > 0) {
          this.moveTo(event);
          this.cascade(this.eventLevel, this.eventSlot);
          continue;
        }
        if (event > this.now) this.moveTo(event);
        left = this.handOver(this.eventSlot, event, sink, left);
      }
    } finally {
      // After a sink that threw.
      if (this.handing !== NONE) this.endHandOver(0);
      this.advancing = false;
    }
  }

  /** Hands a level 0 slot's entries over in order, until the budget is used up. Returns what is left of it. */
  private handOver(list: number, tick: number, sink: DueSink, budget: number): number {
    const { lists } = this;
    let left = budget;
    this.handing = list;
    this.occupancy.unset(list);
    this.occupied[0]--;
    this.least = UNKNOWN;
    while (lists.live(list) > 0) {
      const chunk = lists.head(list);
      const end = lists.endOf(list, chunk);
      for (let cell = chunk << CHUNK_SHIFT; cell < end; cell += 2) {
        const word = lists.cells[cell];
        if (word === TOMBSTONE) continue;
        if (left <= 0) return this.endHandOver(left);
        left--;
        const slot = word & SLOT_MASK;
        lists.position[slot] = 0;
        lists.cells[cell] = TOMBSTONE;
        lists.bury(list);
        this.size--;
        sink.due(slot, tick);
        // The sink cleared the index.
        if (this.handing !== list) return left;
      }
      if (lists.live(list) > 0) lists.dropHead(list);
    }
    return this.endHandOver(left);
  }

  private endHandOver(left: number): number {
    const list = this.handing;
    this.handing = NONE;
    if (this.lists.live(list) === 0) {
      this.lists.release(list);
    } else {
      this.occupancy.set(list);
      this.occupied[0]++;
    }
    return left;
  }

  /** Files the entries of a slot at whose start `now` stands anew, in order: each goes to a lower level. */
  private cascade(level: number, list: number): void {
    const { lists } = this;
    const last = lists.tail(list);
    const end = lists.endOf(list, last);
    this.occupancy.unset(list);
    this.occupied[level]--;
    if (level === this.geometry.levels) this.overflowLeast = Number.POSITIVE_INFINITY;
    this.cascaded += lists.live(list);
    for (let chunk = lists.detach(list), next = 0; chunk !== 0; chunk = next) {
      const stop = chunk === last ? end : (chunk << CHUNK_SHIFT) + LINK;
      for (let cell = chunk << CHUNK_SHIFT; cell < stop; cell += 2) {
        const word = lists.cells[cell];
        if (word === TOMBSTONE) continue;
        const slot = word & SLOT_MASK;
        const tick = this.decode(slot, word, lists.cells[cell + 1]);
        this.file(slot, tick - this.now < FAR_TICKS ? slot : word, tick);
      }
      next = chunk === last ? 0 : lists.next(chunk);
      lists.free(chunk);
    }
    // Those that remain beyond the levels have not moved to a lower one.
    if (level === this.geometry.levels) this.cascaded -= lists.live(list);
  }

  /** The least tick in a slot, by reading it. */
  private leastIn(list: number): number {
    const { lists } = this;
    let least = Number.POSITIVE_INFINITY;
    const last = lists.tail(list);
    for (let chunk = lists.head(list); ; chunk = lists.next(chunk)) {
      const end = lists.endOf(list, chunk);
      for (let cell = chunk << CHUNK_SHIFT; cell < end; cell += 2) {
        const word = lists.cells[cell];
        if (word === TOMBSTONE) continue;
        const tick = this.decode(word & SLOT_MASK, word, lists.cells[cell + 1]);
        if (tick < least) least = tick;
      }
      if (chunk === last) return least;
    }
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the call that is running hands everything due over');
}
