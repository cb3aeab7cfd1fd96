import { CapacityExceededError } from '../../errors.ts';
import { ownWords } from '../../memory/own-words.ts';
import { TIMER_ID_BITS, type TimerId, timerIdLayout } from '../../timer-id.ts';
import type { PlaceWords } from '../../wheel/wheel-index.ts';

const RECORD = 2; // words to a record, as a shift
const VALUE_AT = 1;
const ID_AT = 1;
const NONE = -1;
/** Value word of a slot whose value is in `outOfLine`. */
const OUT_OF_LINE = -(2 ** 31);
const INITIAL = 256;
/** Large, since growing copies everything; untouched memory costs nothing. */
const GROWTH = 4;

/**
 * Everything that a wheel keeps of a timer, in 16 bytes, so a call with an id waits for one line of memory.
 *
 *    words    │ place │ value │   id    │          doubles[2 × slot + 1] is the same memory as the last two words
 *
 *    live     place: the index's      value: see below      id: the timer's
 *    free     place: ~(next free slot)                      id: minus the id of the slot's next timer
 *
 * Gives out slots and ids, the last freed slot first, since its memory is still in the cache. Each use of a slot has
 * its own generation, from 1. A slot whose generations are used up is retired, so no id is given out twice. Ids have
 * the layout of `timer-id.ts`. One load and two comparisons decide whether an id is live, and no number passes for an
 * id of a free slot.
 *
 * A whole number of 31 bits and sign (an index of the user's own, say) is kept as a word: half the memory of a
 * reference, which the garbage collector neither reads nor copies. Other values are in an array that is created when it
 * is needed.
 */
export class TimerRecords<T> {
  // V8: declared fields
  readonly capacity: number;
  private words: Int32Array;
  private doubles: Float64Array;
  private outOfLine: (T | undefined)[] | undefined;
  private readonly moved: (places: PlaceWords) => void;
  /** The first free slot, NONE if there is none. */
  private freeHead = NONE;
  /** Slots ever given out are below it. */
  reach = 0;
  private readonly slotMask: number;
  /** The difference between a slot's generations, within an id. */
  private readonly step: number;
  // V8: double fields
  private readonly first: number = Number.NaN;
  private readonly end: number = Number.NaN;

  /** `shard` is the number in the top bits of every id; `moved` is called whenever the places move to other words. */
  constructor(capacity: number, shard: number, moved: (places: PlaceWords) => void) {
    const layout = timerIdLayout(shard + 1, capacity);
    this.capacity = capacity;
    this.moved = moved;
    this.slotMask = (2 ** layout.slotBits - 1) | 0;
    this.step = 2 ** layout.slotBits;
    this.first = shard * 2 ** (TIMER_ID_BITS - layout.shardBits);
    this.end = this.first + 2 ** (TIMER_ID_BITS - layout.shardBits);
    this.outOfLine = undefined;
    this.words = new Int32Array(Math.min(INITIAL, capacity) << RECORD);
    this.doubles = new Float64Array(this.words.buffer);
    this.moved({ words: this.words, shift: RECORD });
  }

  /** Takes a free slot; its timer is live once it is opened. Throws CapacityExceededError. */
  take(): number {
    const slot = this.freeHead;
    if (slot === NONE) return this.takeFresh();
    this.freeHead = ~this.words[slot << RECORD];
    return slot;
  }

  /** Makes the timer of a slot that was taken live. Returns its id. */
  open(slot: number, value: T): TimerId {
    const id = -this.doubles[(slot << 1) | ID_AT];
    this.doubles[(slot << 1) | ID_AT] = id;
    if (isWord(value)) this.words[(slot << RECORD) | VALUE_AT] = value;
    else this.keepOutOfLine(slot, value);
    return id;
  }

  /** Ends the slot's live timer, drops its value and frees the slot. Overwrites the place. */
  close(slot: number, id: TimerId): void {
    const { words } = this;
    if (this.outOfLine !== undefined && words[(slot << RECORD) | VALUE_AT] === OUT_OF_LINE)
      this.outOfLine[slot] = undefined;
    const next = id + this.step;
    if (next >= this.end) {
      this.retire(slot);
      return;
    }
    this.doubles[(slot << 1) | ID_AT] = -next;
    words[slot << RECORD] = ~this.freeHead;
    this.freeHead = slot;
  }

  isLive(id: TimerId): boolean {
    // A slot that was never used may lie beyond the array; undefined is not an id either. Words of free slots are below
    // 0.
    return typeof id === 'number' && this.doubles[((id & this.slotMask) << 1) | ID_AT] === id && id > 0;
  }

  /** The slot in an id that is known to have been given out here. */
  slotOf(id: TimerId): number {
    return id & this.slotMask;
  }

  /** The id of a slot that is known to be live. */
  idAt(slot: number): TimerId {
    return this.doubles[(slot << 1) | ID_AT];
  }

  /** The id of a live slot, else undefined. */
  idOf(slot: number): TimerId | undefined {
    const id = this.doubles[(slot << 1) | ID_AT];
    return id > 0 ? id : undefined;
  }

  /** Precondition: live. */
  valueAt(slot: number): T {
    const word = this.words[(slot << RECORD) | VALUE_AT];
    return word === OUT_OF_LINE ? (this.outOfLine as T[])[slot] : (word as T);
  }

  /** Ends every live timer and frees its slot. */
  closeAll(): void {
    for (let slot = 0; slot < this.reach; slot++) {
      const id = this.idOf(slot);
      if (id !== undefined) this.close(slot, id);
    }
  }

  get bytes(): number {
    return this.words.byteLength + (this.outOfLine === undefined ? 0 : 8 * this.outOfLine.length);
  }

  private takeFresh(): number {
    const slot = this.reach;
    if (slot === this.capacity) throw new CapacityExceededError(this.capacity);
    if (slot << RECORD === this.words.length) this.grow();
    this.reach++;
    this.doubles[(slot << 1) | ID_AT] = -(this.first + this.step + slot);
    return slot;
  }

  private grow(): void {
    const words = ownWords(Math.min(this.capacity << RECORD, this.words.length * GROWTH));
    words.set(this.words);
    this.words = words;
    this.doubles = new Float64Array(words.buffer);
    this.moved({ words, shift: RECORD });
  }

  private retire(slot: number): void {
    this.words[slot << RECORD] = 0;
    this.doubles[(slot << 1) | ID_AT] = Number.NaN;
  }

  private keepOutOfLine(slot: number, value: T): void {
    this.words[(slot << RECORD) | VALUE_AT] = OUT_OF_LINE;
    this.outOfLine ??= [];
    // Never a hole: the array stays dense.
    while (this.outOfLine.length < slot) this.outOfLine.push(undefined);
    this.outOfLine[slot] = value;
  }
}

/** Whether a word can represent a value: minus zero would come back as 0. */
const isWord = (value: unknown): value is number =>
  typeof value === 'number' && (value | 0) === value && value !== OUT_OF_LINE && (value !== 0 || 1 / value > 0);
