import { ownWords } from '../memory/own-words.ts';
import type { LevelOccupancy } from './tick-index.ts';

// Taken once: a program may replace them.
const { clz32, imul } = Math;

/** The position of a word's lowest 1. V8: words */
export function lowestOne(word: number): number {
  const bits = word | 0;
  return 31 - clz32(bits ^ (bits & (bits - 1)));
}

/** The number of ones in a word. */
export function countOnes(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Which wheel slots hold entries: one bit each. Finds the next occupied slot of a level. */
export class Occupancy {
  private readonly words: Int32Array;

  constructor(slots: number) {
    this.words = ownWords((slots + 31) >>> 5);
  }

  set(slot: number): void {
    this.words[slot >>> 5] |= 1 << (slot & 31);
  }

  unset(slot: number): void {
    this.words[slot >>> 5] &= ~(1 << (slot & 31));
  }

  has(slot: number): boolean {
    return ((this.words[slot >>> 5] >>> (slot & 31)) & 1) === 1;
  }

  /** The first occupied slot in [from, end), or -1. `from` may be anywhere in its word; `end` ends its level. */
  next(from: number, end: number): number {
    const words = this.words;
    const last = (end - 1) >>> 5;
    let word = from >>> 5;
    let bits = words[word] & (-1 << (from & 31));
    while (bits === 0) {
      if (++word > last) return -1;
      bits = words[word];
    }
    return (word << 5) + 31 - clz32(bits ^ (bits & (bits - 1)));
  }

  clear(): void {
    this.words.fill(0);
  }

  get bytes(): number {
    return this.words.byteLength;
  }
}

/** Bounds the size of a level's report, whatever the level's size. */
const MAX_ARCS = 256;

/**
 * How full the level is whose slots, a power of two, begin at `base`. `entriesOf`: of an occupied slot. O(occupied
 * slots).
 */
export function levelOccupancy(
  occupancy: Occupancy,
  { base, slots, width, now }: { base: number; slots: number; width: number; now: number },
  entriesOf: (slot: number) => number,
): LevelOccupancy {
  const level = {
    width,
    slots,
    hand: Math.floor(now / width) % slots,
    occupied: 0,
    entries: 0,
    arcs: new Int32Array(Math.min(slots, MAX_ARCS)),
  };
  const { arcs } = level;
  const end = base + slots;
  for (let slot = occupancy.next(base, end); slot >= 0; slot = slot + 1 < end ? occupancy.next(slot + 1, end) : -1) {
    const entries = entriesOf(slot);
    level.occupied += 1;
    level.entries += entries;
    arcs[Math.floor(((slot - base) * arcs.length) / slots)] += entries;
  }
  return level;
}
