import { CapacityExceededError } from '../errors.ts';
import { TIMER_ID_BITS, type TimerId, timerIdLayout } from '../timer-id.ts';

const INITIAL = 256;
/** Large, since all is copied; memory that is not touched costs nothing. */
const GROWTH = 4;

/**
 * Gives out slots and their ids: the last slot freed first, as its memory is still warm. Each use of a slot has a
 * generation of its own, from 1; a slot whose generations are used up is retired, so no id is ever given out twice.
 * Ids are as `timer-id.ts` draws them.
 *
 *    ids[slot]     the id of the slot's live timer, else NaN
 *    free          the ids to give out next, a stack
 *
 * so one load and one compare tell whether an id is live, and no value passes for a free slot; and neither giving a slot
 * out nor taking it back waits for its memory, it only writes there.
 */
export class Slots {
  // V8: declared fields
  readonly capacity: number;
  private ids: Float64Array;
  /** Of each free slot, the id that its next timer gets. */
  private free: Float64Array;
  private freeCount = 0;
  /** Slots ever given out. */
  private used = 0;
  private retired = 0;
  private readonly slotMask: number;
  // V8: double fields
  /** From one generation of a slot to its next. */
  private readonly step: number = Number.NaN;
  private readonly first: number = Number.NaN;
  private readonly end: number = Number.NaN;

  /** `shard` is the number in the top bits of every id. */
  constructor(capacity: number, shard: number) {
    const layout = timerIdLayout(shard + 1, capacity);
    const room = Math.min(INITIAL, capacity);
    this.capacity = capacity;
    this.ids = new Float64Array(room);
    this.free = new Float64Array(room);
    this.slotMask = (2 ** layout.slotBits - 1) | 0;
    this.step = 2 ** layout.slotBits;
    this.first = shard * 2 ** (TIMER_ID_BITS - layout.shardBits);
    this.end = this.first + 2 ** (TIMER_ID_BITS - layout.shardBits);
    // The only slot that 0, which fresh memory holds, could name.
    this.ids[0] = Number.NaN;
  }

  /** The id for a new timer, live from now on. */
  allocate(): TimerId {
    const { freeCount } = this;
    if (freeCount === 0) return this.allocateFresh();
    const id = this.free[freeCount - 1];
    this.freeCount = freeCount - 1;
    this.ids[id & this.slotMask] = id;
    return id;
  }

  /** Precondition: the id is live. */
  release(id: TimerId): void {
    this.ids[id & this.slotMask] = Number.NaN;
    const next = id + this.step;
    const { free, freeCount } = this;
    if (next >= this.end || freeCount === free.length) {
      this.releaseRarely(next);
      return;
    }
    free[freeCount] = next;
    this.freeCount = freeCount + 1;
  }

  isLive(id: TimerId): boolean {
    // A slot that was never used may lie beyond the array: undefined is no id either.
    return this.ids[id & this.slotMask] === id;
  }

  /** The slot in an id that is known to have been given out here. */
  slotOf(id: TimerId): number {
    return id & this.slotMask;
  }

  /** The id of a slot that is known to be live. */
  idAt(slot: number): TimerId {
    return this.ids[slot];
  }

  /** Reads what there is of a slot, for no result but a number. */
  prefetch(slot: number): number {
    return this.ids[slot] | 0;
  }

  /** The id of a live slot, else undefined. */
  idOf(slot: number): TimerId | undefined {
    const id = this.ids[slot];
    return id > 0 ? id : undefined;
  }

  /** Slots that arrays kept beside this one need room for. */
  get reach(): number {
    return this.used;
  }

  /** Slots given out before and not live now. */
  get idle(): number {
    return this.freeCount + this.retired;
  }

  get bytes(): number {
    return this.ids.byteLength + this.free.byteLength;
  }

  private releaseRarely(next: TimerId): void {
    if (next >= this.end) {
      this.retired++;
      return;
    }
    this.free = grown(this.free, this.capacity);
    this.free[this.freeCount++] = next;
  }

  private allocateFresh(): TimerId {
    const slot = this.used;
    if (slot === this.capacity) throw new CapacityExceededError(this.capacity);
    if (slot === this.ids.length) this.ids = grown(this.ids, this.capacity);
    this.used++;
    const id = this.first + this.step + slot;
    this.ids[slot] = id;
    return id;
  }
}

/** A longer copy. */
export function grown<A extends Int32Array | Float64Array>(array: A, capacity: number): A {
  const length = Math.min(capacity, array.length * GROWTH);
  const copy = (array instanceof Int32Array ? new Int32Array(length) : new Float64Array(length)) as A;
  copy.set(array);
  return copy;
}
