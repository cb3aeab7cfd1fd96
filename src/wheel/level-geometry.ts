/**
 * The levels of a cascading index as data. Level l cuts the bits [shift, shift + levelBits[l]) out of a tick; a tick T is
 * filed on the level of the highest bit in which it differs from `now`, in the slot that its bits of that level name.
 * What differs above the last level's bits goes to the overflow level, which has one slot.
 *
 *    tick  ┌ overflow ┬── level 2 ──┬── level 1 ──┬── level 0 ──┐
 *          └──────────┴─────────────┴─────────────┴─────────────┘ bit 0
 *
 * Slots of all levels are numbered through: slot = base[level] + index, each base a multiple of 32 (see Occupancy).
 */
export class LevelGeometry {
  readonly levelBits: readonly number[];
  /** Levels without the overflow level, which is the one of this number. */
  readonly levels: number;
  /** Wheel slots of all levels, the overflow's and padding included. */
  readonly slots: number;
  readonly shift: Int32Array;
  readonly mask: Int32Array;
  readonly base: Int32Array;
  /** Mask of the bits below a level's, for ticks that differ from `now` in the low word only. */
  readonly below: Int32Array;
  /** 2^shift and 2^-shift: ticks are doubles, shifts of them are multiplications by powers of two, which are exact. */
  readonly width: Float64Array;
  readonly inverse: Float64Array;
  /** Level by the leading zeros of the low words' XOR (32: no difference, level 0), and of the high words'. */
  readonly lowLevel: Uint8Array;
  readonly highLevel: Uint8Array;

  constructor(levelBits: readonly number[]) {
    const levels = levelBits.length;
    this.levelBits = levelBits.slice();
    this.levels = levels;
    this.shift = new Int32Array(levels + 1);
    this.mask = new Int32Array(levels + 1);
    this.base = new Int32Array(levels + 1);
    this.below = new Int32Array(levels + 1);
    this.width = new Float64Array(levels + 1);
    this.inverse = new Float64Array(levels + 1);
    this.lowLevel = new Uint8Array(33);
    this.highLevel = new Uint8Array(33).fill(levels);
    let bit = 0;
    let base = 0;
    for (let level = 0; level <= levels; level++) {
      const bits = level < levels ? levelBits[level] : 0;
      this.shift[level] = bit;
      this.mask[level] = 2 ** bits - 1;
      this.base[level] = base;
      this.below[level] = 2 ** Math.min(bit, 32) - 1;
      this.width[level] = 2 ** bit;
      this.inverse[level] = 2 ** -bit;
      const end = level < levels ? bit + bits : 64;
      for (; bit < end; bit++) {
        if (bit < 32) this.lowLevel[31 - bit] = level;
        else this.highLevel[63 - bit] = level;
      }
      base += Math.ceil(2 ** bits / 32) * 32;
    }
    this.slots = base;
  }

  /** The level of a tick in another block of 2^32 than `now`: their high words differ. */
  levelAcrossBlocks(tick: number, now: number): number {
    return this.highLevel[Math.clz32((tick * 2 ** -32) ^ (now * 2 ** -32))];
  }

  /** The wheel slot of a tick on a level. `&` takes a double's low 32 bits, after cutting its fraction off. */
  slotOn(level: number, tick: number): number {
    return this.base[level] + ((tick * this.inverse[level]) & this.mask[level]);
  }

  /** The first tick of the slot that holds `tick` on a level. */
  startOn(level: number, tick: number): number {
    return Math.floor(tick * this.inverse[level]) * this.width[level];
  }

  get bytes(): number {
    return (this.levels + 1) * (4 * 4 + 2 * 8) + 2 * 33;
  }
}
