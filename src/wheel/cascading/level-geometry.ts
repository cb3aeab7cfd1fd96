import { ownBytes } from '../../memory/own-words.ts';

// Taken once: a program may replace them.
const { ceil, clz32, floor, max } = Math;

/**
 * The levels of a cascading index as data. Level l cuts the bits [shift, shift + levelBits[l]) out of a tick; a tick T
 * is filed on the level of the highest bit in which it differs from `now`, in the slot that its bits of that level
 * name. What differs above the last level's bits goes to the overflow level, which has one slot.
 *
 *    tick  ┌ overflow ┬── level 2 ──┬── level 1 ──┬── level 0 ──┐
 *          └──────────┴─────────────┴─────────────┴─────────────┘ bit 0
 *
 * Slots of all levels are numbered through: slot = base[level] + index, each base a multiple of 32 (see Occupancy).
 */
export class LevelGeometry {
  /** Levels without the overflow level, which is the one of this number. */
  readonly levels: number;
  /** Wheel slots of all levels, the overflow's and padding included. */
  readonly slots: number;
  readonly shift: Int32Array;
  readonly mask: Int32Array;
  readonly base: Int32Array;
  /** Level by wheel slot. */
  readonly levelOf: Uint8Array;
  /** 2^shift and 2^-shift: ticks are doubles, shifts of them are multiplications by powers of two, which are exact. */
  readonly width: Float64Array;
  readonly inverse: Float64Array;
  /** Level by the bit in which two ticks differ first. */
  private readonly levelOfBit: Uint8Array;

  constructor(levelBits: readonly number[]) {
    const levels = levelBits.length;
    this.levels = levels;
    this.shift = new Int32Array(levels + 1);
    this.mask = new Int32Array(levels + 1);
    this.base = new Int32Array(levels + 1);
    this.width = new Float64Array(levels + 1);
    this.inverse = new Float64Array(levels + 1);
    this.levelOfBit = new Uint8Array(64).fill(levels);
    let bit = 0;
    let base = 0;
    for (let level = 0; level <= levels; level++) {
      const bits = level < levels ? levelBits[level] : 0;
      this.shift[level] = bit;
      this.mask[level] = 2 ** bits - 1;
      this.base[level] = base;
      this.width[level] = 2 ** bit;
      this.inverse[level] = 2 ** -bit;
      this.levelOfBit.fill(level, bit, bit + bits);
      bit += bits;
      base += ceil(2 ** bits / 32) * 32;
    }
    this.slots = base;
    this.levelOf = ownBytes(base);
    for (let level = 0; level <= levels; level++) this.levelOf.fill(level, this.base[level]);
  }

  /** The wheel slot of a tick on a level. `&` takes a double's low 32 bits, after cutting its fraction off. */
  slotOn(level: number, tick: number): number {
    return this.base[level] + ((tick * this.inverse[level]) & this.mask[level]);
  }

  /** The wheel slot of a tick in another block of 2^32 than `now`: their high words differ. */
  slotAcrossBlocks(tick: number, now: number): number {
    const bit = 63 - clz32((tick * 2 ** -32) ^ (now * 2 ** -32));
    return this.slotOn(this.levelOfBit[bit], tick);
  }

  /** The first tick of the slot that holds `tick` on a level. */
  startOn(level: number, tick: number): number {
    return floor(tick * this.inverse[level]) * this.width[level];
  }

  /**
   * Fills the table by which ticks of `block` (a multiple of 2^32) find their slot: by the leading zeros of the low
   * words' XOR; 32 of them, no difference, is level 0. One word each, base << 10 | bits << 5 | shift, so that
   *
   *    slot = (word >>> 10) + ((low >>> word) & ~(-1 << (word >>> 5)))        (shifts count modulo 32)
   *
   * The base holds what the block's number contributes to the index on the level that has bits 31 and 32. Precondition:
   * levels have at most 20 bits each and 53 in all, so that slots < 2^22.
   */
  tabulate(block: number, table: Int32Array): void {
    for (let zeros = 0; zeros <= 32; zeros++) {
      const level = this.levelOfBit[max(31 - zeros, 0)];
      const bits = 32 - clz32(this.mask[level]);
      table[zeros] = (this.slotOn(level, block) << 10) | (bits << 5) | (this.shift[level] & 31);
    }
  }

  get bytes(): number {
    return (this.levels + 1) * (3 * 4 + 2 * 8) + this.slots + 64;
  }
}
