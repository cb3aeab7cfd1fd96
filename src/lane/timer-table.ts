import { ownWords } from '../memory/own-words.ts';
import { doublesIn, growSlots, wordsIn } from '../memory/shared-words.ts';
import { encodeTimerId, type TimerId, type TimerIdLayout } from '../timer-id.ts';
import { DEADLINE, DOUBLES_SHIFT, DUE, type LaneMemory, RECORD_SHIFT, TAG } from './lane-memory.ts';

// Taken once: a program may replace them.
const { floor, min } = Math;

// V8: folded constants
const RECORD = RECORD_SHIFT;
const DOUBLES = DOUBLES_SHIFT;
const DUE_AT = DUE;
const TAG_AT = TAG;
const DEADLINE_AT = DEADLINE;

/**
 * The timers of one lane, as the client keeps them: the truth about every timer of it. Only this class writes the
 * table; the shard reads due and tag of single records (see `shard/served-lane.ts`), and all of them when it rebuilds
 * its index.
 *
 *   live slot    tag = generation·2 + 1    due = due word             deadline = as requested, ms
 *   free slot    tag = next generation·2   due = next free slot or -1
 *   fresh slot   0, never touched: slots >= highWater
 *
 * Invariants, restored by each call: size + free + retired = highWater <= capacity; the free list is last-in first-out,
 * so that the slot reused is the one whose cache line was touched last.
 *
 * The generation changes each time a slot is freed, so an id is live exactly if it is the id that its slot would give
 * now: one comparison refuses stale ids, ids of other shards and of other clients, whose generations begin elsewhere
 * (see `firstGeneration`), and those of other schedulers, which begin at random. A slot whose next generation would be
 * its first again is retired: no id is ever given twice.
 */
export class TimerTable {
  readonly capacity: number;
  /** Slots for which there is memory: `capacity`, unless that was refused. */
  room: number;
  /** Called when a fresh slot is needed beyond `room`; sees to it that there is more, or throws AllocationError. */
  onFull: () => void = () => this.reserve(this.room + 1);
  size = 0;
  highWater = 0;
  /** Number of slots taken out of use because their generations are used up. */
  retired = 0;

  private readonly memory: LaneMemory;
  private words: Int32Array;
  private doubles: Float64Array;
  private readonly slots: number;
  private readonly slotMask: number;
  private readonly idBase: number;
  private readonly tagMask: number;
  private readonly highMask: number;
  /** Generation bits above the 31 of the tag; only if the layout has room for them. */
  private high: Int32Array | undefined;
  private readonly firstTag: number;
  private readonly firstHigh: number;
  private freeHead = -1;

  /** `first`: the generation with which each slot begins. */
  constructor(memory: LaneMemory, layout: TimerIdLayout, shard: number, first = 0) {
    this.capacity = memory.capacity;
    this.memory = memory;
    this.words = wordsIn(memory.table);
    this.room = min(memory.capacity, this.words.length >> RECORD);
    this.doubles = doublesIn(memory.table);
    this.slots = 2 ** layout.slotBits;
    this.slotMask = (this.slots - 1) | 0; // V8: words; `slots` may be a double
    this.idBase = encodeTimerId({ shard, generation: 0, slot: 0 }, layout);
    const lowBits = min(31, layout.generationBits);
    this.tagMask = (2 ** lowBits - 1) << 1;
    this.highMask = 2 ** (layout.generationBits - lowBits) - 1;
    this.high = this.highMask > 0 ? ownWords(this.room) : undefined;
    this.firstHigh = floor(first / 2 ** 31) & this.highMask;
    this.firstTag = ((first % 2 ** 31) << 1) & this.tagMask;
  }

  /**
   * Takes a slot for a new timer; -1 when all are in use. Throws AllocationError if there are more, but no memory for
   * one.
   */
  allocate(deadline: number, due: number): number {
    let slot = this.freeHead;
    if (slot < 0) {
      slot = this.takeFresh();
      if (slot < 0) return -1;
    }
    const { words } = this;
    const at = slot << RECORD;
    this.freeHead = words[at | DUE_AT];
    words[at | DUE_AT] = due;
    this.doubles[(slot << DOUBLES) | DEADLINE_AT] = deadline;
    words[at | TAG_AT] |= 1; // after due: a shard that sees the timer live sees when it is due
    this.size += 1;
    return slot;
  }

  /**
   * Ends a live timer; its id is now stale. Returns false if the slot is retired as well; other slots are the next to
   * be allocated.
   */
  free(slot: number): boolean {
    const { words } = this;
    const at = slot << RECORD;
    const tag = (words[at | TAG_AT] + 1) & this.tagMask;
    words[at | TAG_AT] = tag; // before due: a shard that still sees the old tag still sees its due word
    this.size -= 1;
    if ((tag === 0 || tag === this.firstTag) && this.isUsedUp(slot, tag)) return false;
    words[at | DUE_AT] = this.freeHead;
    this.freeHead = slot;
    return true;
  }

  /** The slot of a live timer; -1 for any other number, and for anything that is not a number. */
  slotOf(id: TimerId): number {
    if (typeof id !== 'number') return -1;
    const slot = id & this.slotMask;
    if (slot >= this.highWater) return -1;
    const tag = this.words[(slot << RECORD) | TAG_AT];
    // Differences of exact integers: an id made for the comparison would be boxed by a call that is not inlined.
    return (tag & 1) === 1 && id - this.idBase - slot === this.generationOf(slot, tag) * this.slots ? slot : -1;
  }

  /** The id that the slot's present generation gives. */
  idOf(slot: number): TimerId {
    const low = this.words[(slot << RECORD) | TAG_AT] >>> 1;
    const generation = this.high === undefined ? low : this.high[slot] * 2 ** 31 + low;
    return this.idBase + generation * this.slots + slot;
  }

  /** Visits the free slots, the last freed first, until `visit` returns false. */
  forEachFree(visit: (slot: number) => boolean): void {
    for (let slot = this.freeHead; slot >= 0 && visit(slot); ) slot = this.words[(slot << RECORD) | DUE_AT];
  }

  isLive(slot: number): boolean {
    return (this.words[(slot << RECORD) | TAG_AT] & 1) === 1;
  }

  /** Changes with every timer of the slot; commands and fired records carry it to name their timer. */
  tagOf(slot: number): number {
    return this.words[(slot << RECORD) | TAG_AT];
  }

  dueOf(slot: number): number {
    return this.words[(slot << RECORD) | DUE_AT];
  }

  deadlineOf(slot: number): number {
    return this.doubles[(slot << DOUBLES) | DEADLINE_AT];
  }

  /** Asked so, no deadline is returned: a double that leaves a call which is not inlined is allocated. */
  isDueAfter(slot: number, deadline: number): boolean {
    return this.doubles[(slot << DOUBLES) | DEADLINE_AT] > deadline;
  }

  move(slot: number, deadline: number, due: number): void {
    this.doubles[(slot << DOUBLES) | DEADLINE_AT] = deadline;
    this.words[(slot << RECORD) | DUE_AT] = due;
  }

  /** Whether every slot that can still be used holds a live timer. */
  get isFull(): boolean {
    return this.freeHead < 0 && this.highWater === this.capacity;
  }

  /**
   * Sees to it that there is memory for so many slots; returns whether the table has moved for that. Then whoever reads
   * it must read the new one. If memory is refused, throws and changes nothing.
   */
  reserve(slots: number): boolean {
    const { high, memory, words } = this;
    const isMoving = slots << RECORD > words.length;
    const table = isMoving ? growSlots(memory.table, 1 << RECORD, this.capacity, slots) : memory.table;
    const room = min(this.capacity, table.byteLength >> (RECORD + 2));
    if (high !== undefined && high.length < room) {
      this.high = ownWords(room);
      this.high.set(high);
    }
    this.room = room;
    if (!isMoving) return false;
    memory.table = table;
    this.words = wordsIn(table);
    this.doubles = doublesIn(table);
    return true;
  }

  private makeRoom(): boolean {
    if (this.room === this.capacity) return false;
    this.onFull();
    return true;
  }

  /** The generation whose low bits a tag of the slot has. */
  private generationOf(slot: number, tag: number): number {
    const low = tag >>> 1;
    return this.high === undefined ? low : this.high[slot] * 2 ** 31 + low;
  }

  /**
   * Carries if the low bits of a slot's generation have wrapped; returns whether it is the slot's first generation
   * again.
   */
  private isUsedUp(slot: number, tag: number): boolean {
    const { high } = this;
    if (high !== undefined && tag === 0) high[slot] = (high[slot] + 1) & this.highMask;
    if (tag !== this.firstTag || (high !== undefined && high[slot] !== this.firstHigh)) return false;
    this.retired += 1;
    return true;
  }

  /** Makes a slot that has never been used the only one of the free list; -1 if there is none. */
  private takeFresh(): number {
    const slot = this.highWater;
    if (slot === this.room && !this.makeRoom()) return -1;
    this.highWater = slot + 1;
    this.words[(slot << RECORD) | DUE_AT] = -1;
    this.words[(slot << RECORD) | TAG_AT] = this.firstTag;
    if (this.high !== undefined) this.high[slot] = this.firstHigh;
    return slot;
  }
}
