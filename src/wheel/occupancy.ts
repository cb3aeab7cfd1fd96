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
    this.words = new Int32Array((slots + 31) >>> 5);
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

/** An empty level. Precondition: slots are a power of two. */
export const emptyLevel = (width: number, slots: number, now: number): LevelOccupancy => ({
  width,
  slots,
  hand: Math.floor(now / width) % slots,
  occupied: 0,
  entries: 0,
  arcs: new Int32Array(Math.min(slots, MAX_ARCS)),
});

/** Notes the entries of one occupied slot. */
export function addSlot(level: LevelOccupancy, slot: number, entries: number): void {
  level.occupied += 1;
  level.entries += entries;
  level.arcs[Math.floor((slot * level.arcs.length) / level.slots)] += entries;
}

type Count = (slot: number) => number;

/** Reads a level slot by slot. */
export function countLevel(width: number, slots: number, now: number, entriesOf: Count): LevelOccupancy {
  const level = emptyLevel(width, slots, now);
  for (let slot = 0; slot < slots; slot++) {
    const entries = entriesOf(slot);
    if (entries > 0) addSlot(level, slot, entries);
  }
  return level;
}
