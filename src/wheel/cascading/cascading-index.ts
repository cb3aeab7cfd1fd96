import { lowestOne } from '../occupancy.ts';
import type { DueSink } from '../tick-index.ts';
import type { WheelIndex } from '../wheel-index.ts';
import type { IndexSnapshot } from '../wheel-snapshot.ts';
import { type AllocateWords, CHUNK_SHIFT, CHUNK_WORDS, SLOT_MASK } from './chunk-lists.ts';
import { inspectCascading } from './inspect-cascading.ts';
import { NextEntry, NONE, UNKNOWN } from './next-entry.ts';
import { FAR_TICKS } from './slot-lists.ts';

// V8: folded constants; taken once, since a program may replace functions
const { ceil, clz32, min } = Math;
const SHIFT = CHUNK_SHIFT;
const HALF = CHUNK_WORDS / 2;
const SLOT = SLOT_MASK;

export interface CascadingIndexOptions {
  /** Bits of a tick that each level covers, the finest first. Each 1..20, at most 53 in all. */
  readonly levelBits: readonly number[];
  /** Slot numbers go from 0 to capacity - 1; at most 2^24. */
  readonly capacity: number;
  /** Ticks at or beyond the levels' range: held in a list (the default), or refused (`upperBound`). */
  readonly overflow?: 'list' | 'throw';
  /** The first `now`. Default 0. */
  readonly start?: number;
  /** Entries to make room for at once, so that nothing is copied to grow. Memory is touched only when it is used. */
  readonly reserve?: number;
  /** See ChunkLists. */
  readonly words?: AllocateWords;
}

/**
 * Hierarchical timing wheel over integer ticks. An entry of tick T is on the level of the highest bit in which T
 * differs from `now`, in the slot that T's bits of that level name. This also holds for entries filed long ago, since
 * advancing to the start of an occupied slot cascades it. So an entry's place follows from (now, T), and entries need
 * no back pointers. The invariant that matters:
 *
 *    on each level, occupied slots are after now's own (on level 0 also at it, while its entries are being handed
 *    over), and everything on a level is due before anything on the next
 *
 * so the next event is the first occupied slot after now's on the lowest level that has one; nothing wraps round,
 * and a jump over empty time costs the same whatever its length. Entries of one tick are always in one slot, in the
 * order in which they were filed. Cascading keeps this order, so they are handed over in it.
 *
 * insert: O(1), touching its slot's last cell and its position. remove: O(1), touching the position; now and then
 * a slot is compacted, O(1) amortised. advanceTo: O(levels) per occupied slot met; each entry cascades at most once per
 * level (once more each time that the clock passes the whole range while it waits in the overflow list). nextTick:
 * exact; may read one slot.
 *
 * After: tokio `runtime/time/wheel`, ratas (canonical placement); storage measured here, see ChunkLists and SlotLists.
 */
export class CascadingIndex extends NextEntry implements WheelIndex {
  cascaded = 0;
  readonly keepsDueTicks = true;
  private readonly refuses: boolean;
  private advancing = false;

  constructor({ levelBits, capacity, overflow = 'list', start = 0, reserve = 0, words }: CascadingIndexOptions) {
    super(levelBits, capacity, start, reserve, words);
    this.refuses = overflow === 'throw';
  }

  /**
   * Without an overflow list, the last accepted tick is `now` + the levels' range. So every key of that many bits from
   * `now` on can be filed one tick later, which is how intervals fire (see TimingWheel, rounding 'next'). Ticks within
   * the bound but in the next block of the top level wait on the overflow level nevertheless.
   */
  get upperBound(): number {
    if (!this.refuses) return Number.POSITIVE_INFINITY;
    const { geometry } = this;
    return min(this.now + geometry.width[geometry.levels] + 1, 2 ** 53);
  }

  insert(slot: number, tick: number): void {
    const due = tick > this.now ? tick : this.now + 1;
    this.file(slot, due);
    if (due < this.earliest) this.setEarliest(due, slot);
  }

  insertDirect(slot: number, tick: number): void {
    this.fileDirect(slot, tick);
    if (tick < this.earliest) this.setEarliest(tick, slot);
  }

  prepare(slot: number, tick: number): void {
    this.reserveChunks(1);
    if (tick - this.now >= FAR_TICKS) this.reserveFar(slot);
  }

  remove(slot: number): boolean {
    const { position, positionShift } = this;
    // A slot that was never filed may lie beyond the array; undefined is not greater than anything.
    if (!(position[slot << positionShift] > 0)) return false;
    position[slot << positionShift] = 0;
    this.size--;
    return true;
  }

  tickOf(slot: number): number {
    return this.tickAt(this.position[slot << this.positionShift]);
  }

  /** Within a sink, any tick that is not past throws an Error: the outer call goes there anyway. */
  advanceTo(tick: number, sink: DueSink, budget: number): boolean {
    if (tick >= this.eventFreeBefore) return this.advance(tick, sink, budget);
    if (tick > this.now) {
      this.now = tick;
      this.nowLow = tick | 0;
    }
    return true;
  }

  clear(): void {
    this.clearFiling();
    this.earliest = UNKNOWN;
    this.reading = NONE;
    // Within a sink the event stays: it keeps a nested advanceTo out.
    if (!this.advancing) this.setEvent(Number.POSITIVE_INFINITY, 0);
  }

  levelRanges(): number[] {
    return Array.from(this.geometry.width.subarray(1));
  }

  inspect(): IndexSnapshot {
    return inspectCascading(this);
  }

  private advance(tick: number, sink: DueSink, budget: number): boolean {
    if (tick < this.event) {
      this.catchUp(tick);
      return true;
    }
    if (this.advancing) throwNested();
    let left = ceil(budget);
    this.advancing = true;
    try {
      for (;;) {
        if (this.heads[this.eventList] === 0) this.setEvent(this.findEvent(), this.found);
        const { event } = this;
        if (event > tick) {
          this.catchUp(tick);
          return true;
        }
        // Out of budget, `now` stays. Except if nothing is due at all, which a slot of a higher level does not show.
        if (left <= 0 && this.nextTick() <= tick) return false;
        if (this.heads[this.eventList] === 0) continue;
        if (this.eventList > this.mask0) this.reserveCascade(this.eventList);
        this.catchUp(event);
        if (this.eventList > this.mask0) this.cascaded += this.cascade(this.eventList);
        else if (left > 0) left = this.handOver(this.eventList, event, sink, left);
        else this.vacate(this.eventList);
        // Out of budget within the list: the next turn finds whether the rest is live.
        if (this.reading !== NONE) this.suspend();
        else this.setEvent(this.findEvent(), this.found);
      }
    } finally {
      if (this.reading !== NONE) this.suspend();
      this.advancing = false;
    }
  }

  /** Hands over a level 0 slot's entries in order, until the budget is used up. Returns what is left of it. */
  private handOver(list: number, tick: number, sink: DueSink, budget: number): number {
    let left = budget;
    this.reading = list;
    this.unoccupy(list);
    for (let chunk = this.heads[list]; chunk !== 0; chunk = this.dropHead(list)) {
      const end = this.endOf(list, chunk);
      for (let from = chunk << SHIFT; from < end; from += HALF) {
        if (left <= 0) return left;
        const living = this.livingIn(from, end);
        if (sink.prefetch !== undefined && (living & (living - 1)) !== 0) {
          for (let ahead = living; ahead !== 0; ahead &= ahead - 1) {
            sink.prefetch(this.cells[from + 2 * lowestOne(ahead)] & SLOT);
          }
        }
        left -= this.handOverLiving(from, living, tick, sink, left);
        if (this.reading !== list) return left; // the sink cleared the index
        if (left <= 0 && this.livingIn(from, end) !== 0) return left;
      }
    }
    this.detach(list);
    this.reading = NONE;
    return left;
  }

  /** Hands over the entries of half a chunk that `living` marks, at most `budget`. Returns their number. */
  private handOverLiving(from: number, living: number, tick: number, sink: DueSink, budget: number): number {
    const { cells, positionShift, reading } = this;
    let handed = 0;
    for (let left = living | 0; left !== 0 && handed < budget; ) {
      const others = left & (left - 1);
      const cell = (from + ((31 - clz32(left ^ others)) << 1)) | 0;
      left = others;
      const slot = cells[cell] & SLOT;
      const { position } = this; // read for each entry: the sink may make it grow
      if (position[slot << positionShift] !== cell) continue; // the sink has removed it meanwhile
      position[slot << positionShift] = 0;
      this.size--;
      handed++;
      sink.due(slot, tick);
      if (this.reading !== reading) break; // the sink cleared the index: hand over no more
    }
    return handed;
  }

  /**
   * Leaves a list half read, when the budget is used up or the sink threw: it is read again from its head, past the
   * dead.
   */
  private suspend(): void {
    this.occupy(this.reading);
    this.reading = NONE;
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the running call hands over everything due');
}
