import { CapacityExceededError } from '../errors.ts';
import { TIMER_ID_BITS, type TimerId, timerIdLayout } from '../timer-id.ts';

const INITIAL = 256;

/**
 * Gives out slots and their ids: the last slot freed first, as its memory is still warm. Each use of a slot has a
 * generation of its own, from 1; a slot whose generations are used up is retired, so no id is ever given out twice.
 *
 *    records[2 slot]      the id of the slot's timer while it is live, minus the id of its next one while it is free, 0 if never used
 *    records[2 slot + 1]  the deadline of the timer
 *
 * so one load and one compare tell whether an id is live, and what is touched with it lies in the same cache line.
 * Ids are as `timer-id.ts` draws them.
 */
export class Slots {
  readonly capacity: number;
  private records: Float64Array;
  private free: Int32Array;
  private freeCount = 0;
  /** Slots ever given out. */
  private used = 0;
  private retired = 0;
  private readonly slotMask: number;
  /** From one generation of a slot to its next. */
  private readonly step: number;
  private readonly first: number;
  private readonly end: number;

  /** `shard` is the number in the top bits of every id. */
  constructor(capacity: number, shard: number) {
    const layout = timerIdLayout(shard + 1, capacity);
    this.capacity = capacity;
    this.records = new Float64Array(2 * Math.min(INITIAL, capacity));
    this.free = new Int32Array(Math.min(INITIAL, capacity));
    this.slotMask = 2 ** layout.slotBits - 1;
    this.step = 2 ** layout.slotBits;
    this.first = shard * 2 ** (TIMER_ID_BITS - layout.shardBits);
    this.end = this.first + 2 ** (TIMER_ID_BITS - layout.shardBits);
  }

  /** The id for a new timer, live from now on. */
  allocate(deadline: number): TimerId {
    const { freeCount } = this;
    if (freeCount === 0) return this.allocateFresh(deadline);
    const slot = this.free[freeCount - 1];
    const id = -this.records[2 * slot];
    this.freeCount = freeCount - 1;
    this.records[2 * slot] = id;
    this.records[2 * slot + 1] = deadline;
    return id;
  }

  /** Precondition: the slot is live. */
  release(slot: number): void {
    const next = this.records[2 * slot] + this.step;
    this.records[2 * slot] = -next;
    if (next >= this.end) {
      this.retired++;
      return;
    }
    if (this.freeCount === this.free.length) this.free = grown(this.free, this.capacity);
    this.free[this.freeCount++] = slot;
  }

  /** The slot of a live id, -1 for any other value. */
  find(id: TimerId): number {
    const slot = id & this.slotMask;
    return id > 0 && slot < this.used && this.records[2 * slot] === id ? slot : -1;
  }

  /** The slot in an id that is known to be live. */
  slotOf(id: TimerId): number {
    return id & this.slotMask;
  }

  /** The id of a live slot, else undefined. */
  idOf(slot: number): TimerId | undefined {
    const id = this.records[2 * slot];
    return id > 0 ? id : undefined;
  }

  deadlineOf(slot: number): number {
    return this.records[2 * slot + 1];
  }

  setDeadline(slot: number, deadline: number): void {
    this.records[2 * slot + 1] = deadline;
  }

  /** Slots of which typed arrays kept beside this one need room. */
  get reach(): number {
    return this.used;
  }

  /** Slots given out before and not live now. */
  get idle(): number {
    return this.freeCount + this.retired;
  }

  get bytes(): number {
    return this.records.byteLength + this.free.byteLength;
  }

  private allocateFresh(deadline: number): TimerId {
    const slot = this.used;
    if (slot === this.capacity) throw new CapacityExceededError(this.capacity);
    if (2 * slot === this.records.length) this.records = grown(this.records, 2 * this.capacity);
    this.used++;
    const id = this.first + this.step + slot;
    this.records[2 * slot] = id;
    this.records[2 * slot + 1] = deadline;
    return id;
  }
}

/** A copy of twice the length. */
export function grown<A extends Int32Array | Float64Array>(array: A, capacity: number): A {
  const length = Math.min(capacity, array.length * 2);
  const copy = (array instanceof Int32Array ? new Int32Array(length) : new Float64Array(length)) as A;
  copy.set(array);
  return copy;
}
