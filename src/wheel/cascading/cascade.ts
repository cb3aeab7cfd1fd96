import { countOnes, lowestOne } from '../occupancy.ts';
import { CHUNK_SHIFT, CHUNK_WORDS, ENTRIES_PER_CHUNK, LINK, SLOT_MASK } from './chunk-lists.ts';
import { FAR, FAR_TICKS, SlotLists } from './slot-lists.ts';

// Taken once: a program may replace them.
const { clz32, min } = Math;

// V8: folded constants
const SHIFT = CHUNK_SHIFT;
const LINK_AT = LINK;
const IN_CHUNK = CHUNK_WORDS - 1;
const HALF = CHUNK_WORDS / 2;
const SLOT = SLOT_MASK;
const OVERFLOW = -1;

/**
 * Moves the entries of a wheel slot to finer levels when `now` has reached its start, half a chunk at a time: it first
 * reads all their positions, then files the live ones.
 */
export class Cascade extends SlotLists {
  /**
   * Makes sure of the memory that `cascade` needs: beyond what it empties, at most a chunk for each finer list. To be
   * called before `now` moves to the list: if memory is refused, it throws, and nothing has changed.
   */
  protected reserveCascade(list: number): void {
    const { base, levelOf } = this.geometry;
    this.reserveChunks(1 + min(base[levelOf[list]], this.chunkCounts[list] * ENTRIES_PER_CHUNK));
  }

  /**
   * Empties the list of a wheel slot that starts at `now`: refiles its entries in order. Returns their number.
   * Precondition: `reserveCascade`.
   */
  protected cascade(list: number): number {
    const { cells } = this;
    const level = list === this.overflowList ? OVERFLOW : this.geometry.levelOf[list];
    const isNear = level !== OVERFLOW && this.geometry.width[level] <= FAR_TICKS;
    const cursor = this.cursors[list];
    this.unoccupy(list);
    let moved = 0;
    for (let chunk = this.detach(list); chunk !== 0; ) {
      const start = chunk << SHIFT;
      const full = start + LINK_AT;
      const next = cells[full];
      const end = next === 0 ? cursor : full;
      for (let from = start; from < end; from += HALF) {
        const living = this.livingIn(from, end);
        moved += isNear ? this.cascadeDirect(from, living, level) : this.cascadeFar(from, living);
      }
      this.freeUp(chunk);
      chunk = next;
    }
    return moved;
  }

  /** Refiles the entries of half a chunk that `living` marks, all due within now's block. Returns their number. */
  private cascadeDirect(from: number, living: number, level: number): number {
    for (let left = living; left !== 0; ) {
      left = this.cascadeUntilFull(from, left, level);
      // No event lies below it, so only the list matters, not the whole tick.
      if (left !== 0) this.extend(this.placeOf(this.cells[from + 2 * lowestOne(left) + 1]), this.now);
    }
    return countOnes(living);
  }

  /**
   * Does the same until a list needs another chunk. Returns the entries that are left. Most timers pass here, most of
   * them once, from level 1 to level 0, whose lists their low bits name. In a separate function the loop contains no
   * call, so no registers have to be saved around one.
   */
  private cascadeUntilFull(from: number, living: number, level: number): number {
    const { cells, cursors, mask0, nowLow, places, position, positionShift } = this;
    let left = living | 0;
    do {
      const others = left & (left - 1);
      const old = (from + ((31 - clz32(left ^ others)) << 1)) | 0;
      const low = cells[old | 1];
      let list = low & mask0;
      if (level > 1) {
        const place = places[clz32(low ^ nowLow)];
        list = ((place >>> 10) + ((low >>> place) & ~(-1 << (place >>> 5)))) | 0;
      }
      const cell = cursors[list];
      if ((cell & IN_CHUNK) === LINK_AT) break;
      const slot = cells[old] & SLOT;
      cells[cell] = slot;
      cells[cell | 1] = low;
      position[slot << positionShift] = cell;
      cursors[list] = cell + 2;
      left = others;
    } while (left !== 0);
    return left;
  }

  /** Refiles them by their whole ticks. Entries that stay beyond the levels have not moved. */
  private cascadeFar(from: number, living: number): number {
    let moved = 0;
    for (let left = living | 0; left !== 0; left &= left - 1) {
      const cell = from + 2 * lowestOne(left);
      const slot = this.cells[cell] & SLOT;
      const tick = this.tickAt(cell);
      const list = this.appendAnywhere(slot, tick - this.now < FAR_TICKS ? slot : slot | FAR, tick);
      if (list !== this.overflowList) moved++;
    }
    return moved;
  }
}
