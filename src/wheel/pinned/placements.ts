import { ownWords, ownWordsAtLeast } from '../../memory/own-words.ts';

// Taken once: a program may replace them.
const { min } = Math;

const RECORD = 2; // words to a record, as a shift
const ENTRY_AT = 1;
const TICK_AT = 1;
const INITIAL = 256;
const GROWTH = 4;

/**
 * The place of each slot of a pinned index, and its own due tick: removing a slot reads only one line of memory.
 *
 *    words    │ spoke + 1, 0: not filed │ entry │   tick    │          doubles[2 × slot + 1] is the tick
 */
export class Placements {
  private readonly capacity: number;
  private words = ownWords(INITIAL << RECORD);
  private doubles: Float64Array;
  /** Slots below it have a record. */
  reach = INITIAL;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.doubles = new Float64Array(this.words.buffer);
  }

  /** Makes room for the slot's record. If memory is refused, throws and changes nothing. */
  reserve(slot: number): void {
    if (slot >= this.reach) this.grow(slot);
  }

  /** Precondition: there is room. */
  place(slot: number, spoke: number, entry: number, tick: number): void {
    this.words[slot << RECORD] = spoke + 1;
    this.words[(slot << RECORD) | ENTRY_AT] = entry;
    this.doubles[(slot << 1) | TICK_AT] = tick;
  }

  moveTo(slot: number, entry: number): void {
    this.words[(slot << RECORD) | ENTRY_AT] = entry;
  }

  /** Clears the place but keeps the tick, for the receiver of the slot. */
  displace(slot: number): void {
    this.words[slot << RECORD] = 0;
  }

  clear(): void {
    this.words.fill(0);
  }

  has(slot: number): boolean {
    return slot < this.reach && this.words[slot << RECORD] !== 0;
  }

  /** Returns the spoke; below 0 if the slot is not filed. */
  spokeOf(slot: number): number {
    return this.words[slot << RECORD] - 1;
  }

  entryOf(slot: number): number {
    return this.words[(slot << RECORD) | ENTRY_AT];
  }

  tickOf(slot: number): number {
    return this.doubles[(slot << 1) | TICK_AT];
  }

  get bytes(): number {
    return this.words.byteLength;
  }

  private grow(slot: number): void {
    const words = ownWordsAtLeast((slot + 1) << RECORD, min(this.capacity, this.reach * GROWTH) << RECORD);
    words.set(this.words);
    this.reach = words.length >>> RECORD;
    this.words = words;
    this.doubles = new Float64Array(words.buffer);
  }
}
