import { allocateGroups } from '../memory/shared-words.ts';
import { performanceNow } from '../unfaked.ts';
import { type ClockOrigin, clockOrigin, offsetFrom } from './monotonic-clock.ts';

// Taken once: a program may replace them.
const { max } = Math;

/**
 * One slot in shared memory that holds the scheduler's time. A thread of a shard publishes to it in each of its turns,
 * a client in each of its own; all threads read it.
 *
 *     group 0: [ time: 64 bits, the IEEE-754 bits of ms since the origin ]
 *
 * The slot never falls: it is raised by compare-and-exchange to a larger value. Doubles that are not negative
 * have the order of their bits, so integer comparison suffices, and no precision is lost at any magnitude.
 *
 * The slot alone is as old as the last thread that had a processor: tens of ms on a busy machine. So time is always
 * read at its source, in one of two ways: `read` tells nobody, `publish` raises the slot as well (one
 * compare-and-exchange, once a turn). What a program is told, `now`, is never behind a time that another thread has
 * published. A manual clock is the same slot, written only by `set`.
 */
export interface SharedClockMemory {
  readonly buffer: SharedArrayBuffer;
  readonly origin: ClockOrigin;
  readonly manual: boolean;
}

export class SharedClock {
  readonly memory: SharedClockMemory;
  private readonly slot: BigInt64Array;
  /** See `MonotonicClock`. V8: short paths */
  private readonly offset: number;
  private readonly manual: boolean;
  /** The latest time that `now` has returned. */
  private latest = Number.NEGATIVE_INFINITY; // V8: double fields
  private readonly scratch = new Float64Array(1);
  private readonly scratchBits = new BigInt64Array(this.scratch.buffer);

  static allocate(manual: boolean): SharedClockMemory {
    return { buffer: allocateGroups(1), origin: clockOrigin(), manual };
  }

  constructor(memory: SharedClockMemory) {
    this.memory = memory;
    this.slot = new BigInt64Array(memory.buffer, 0, 1);
    this.offset = offsetFrom(memory.origin);
    this.manual = memory.manual;
  }

  /** The time in ms by this thread's own reading, which nobody else learns; with a manual clock, the last `set`. */
  read(): number {
    return this.manual ? this.slotTime() : performanceNow() + this.offset;
  }

  /** The same, and all threads learn it. */
  publish(): number {
    if (this.manual) return this.slotTime();
    const now = performanceNow() + this.offset;
    this.scratch[0] = now;
    const bits = this.scratchBits[0];
    const seen = Atomics.load(this.slot, 0);
    // Tried once: if it fails, another thread has published its time since.
    if (seen < bits) Atomics.compareExchange(this.slot, 0, seen, bits);
    return now;
  }

  /**
   * What a program is told: correct at the moment of the call, never falling, and not behind what any thread has
   * published.
   */
  now(): number {
    if (this.manual) return this.slotTime();
    this.latest = max(this.latest, this.read(), this.slotTime());
    return this.latest;
  }

  /** Publishes a time, which moves a manual clock; one in the past changes nothing. */
  set(now: number): void {
    this.scratch[0] = now;
    const bits = this.scratchBits[0];
    let seen = Atomics.load(this.slot, 0);
    while (seen < bits) {
      const found = Atomics.compareExchange(this.slot, 0, seen, bits);
      if (found === seen) return;
      seen = found;
    }
  }

  /** The time as last published. */
  private slotTime(): number {
    this.scratchBits[0] = Atomics.load(this.slot, 0);
    return this.scratch[0];
  }
}
