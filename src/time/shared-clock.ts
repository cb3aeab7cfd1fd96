import { allocateGroups, WORDS_PER_GROUP } from '../memory/shared-words.ts';
import { type ClockOrigin, clockOrigin, MonotonicClock } from './monotonic-clock.ts';

/**
 * One slot in shared memory that holds the scheduler's time. Shards publish to it as they wake and as they turn, the
 * client once per event-loop turn; everybody reads it.
 *
 *     group 0: [ time: 64 bits, the IEEE-754 bits of ms since the origin ]
 *     group 1: [ awake: one bit for each shard, set while it is not parked ] …
 *
 * The slot never goes back: it is raised by compare-and-exchange to the larger value. Doubles that are not negative
 * order as their bits do, so integer comparison serves, and no precision is lost at any magnitude.
 *
 * While a shard is awake the slot is read without asking the system (10 ns); when all are parked nobody would raise it,
 * so the reader takes the time itself (37 ns) and publishes it, which keeps `now()` monotonic across both ways.
 * A manual clock is the same slot, written only by `set`.
 */
export interface SharedClockMemory {
  readonly buffer: SharedArrayBuffer;
  readonly origin: ClockOrigin;
  readonly manual: boolean;
  readonly shards: number;
}

const AWAKE = WORDS_PER_GROUP;
/** Of so many readings (a power of two, less one) one takes the time itself, lest a shard that died awake be trusted for ever. */
const TRUST = 63;
const SHARDS_PER_GROUP = WORDS_PER_GROUP * 32;

export class SharedClock {
  readonly memory: SharedClockMemory;
  private readonly slot: BigInt64Array;
  private readonly words: Int32Array;
  private readonly monotonic: MonotonicClock;
  private readonly manual: boolean;
  private readonly awakeWords: number;
  private readings = 0;
  private readonly scratch = new Float64Array(1);
  private readonly scratchBits = new BigInt64Array(this.scratch.buffer);

  static allocate(manual: boolean, shards: number): SharedClockMemory {
    return { buffer: allocateGroups(1 + Math.ceil(shards / SHARDS_PER_GROUP)), origin: clockOrigin(), manual, shards };
  }

  constructor(memory: SharedClockMemory) {
    this.memory = memory;
    this.slot = new BigInt64Array(memory.buffer, 0, 1);
    this.words = new Int32Array(memory.buffer);
    this.monotonic = new MonotonicClock(memory.origin);
    this.manual = memory.manual;
    this.awakeWords = Math.ceil(memory.shards / 32);
  }

  /** Milliseconds since the scheduler's start: never stale while all shards are parked, never falling. */
  now(): number {
    if (this.manual) return this.published();
    this.readings = (this.readings + 1) | 0;
    const isTrusted = this.isRaised() && (this.readings & TRUST) !== 0;
    if (isTrusted) return this.published();
    // Threads tell the source of time from their own starts, some ns apart: what one has published none takes back.
    return Math.max(this.refresh(), this.published());
  }

  /** The time as last published. */
  published(): number {
    this.scratchBits[0] = Atomics.load(this.slot, 0);
    return this.scratch[0];
  }

  /** The time by its source, without publishing it; with a manual clock, what was set. */
  exact(): number {
    return this.manual ? this.published() : this.monotonic.now();
  }

  /** Reads the source of time, publishes it, and returns it as this thread tells it. With a manual clock: what was set. */
  refresh(): number {
    if (this.manual) return this.published();
    const now = this.monotonic.now();
    this.raise(now);
    return now;
  }

  /** Manual clock: moves the time; a time in the past changes nothing. */
  set(now: number): void {
    this.raise(now);
  }

  /** A shard is awake, and so keeps the slot raised, or has parked (or died: saying so twice does no harm). */
  setAwake(shard: number, awake: boolean): void {
    const word = AWAKE + (shard >> 5);
    if (awake) Atomics.or(this.words, word, 1 << shard);
    else Atomics.and(this.words, word, ~(1 << shard));
  }

  private isRaised(): boolean {
    for (let word = 0; word < this.awakeWords; word++) {
      if (Atomics.load(this.words, AWAKE + word) !== 0) return true;
    }
    return false;
  }

  private raise(now: number): void {
    this.scratch[0] = now;
    const bits = this.scratchBits[0];
    let seen = Atomics.load(this.slot, 0);
    while (seen < bits) {
      const found = Atomics.compareExchange(this.slot, 0, seen, bits);
      if (found === seen) return;
      seen = found;
    }
  }
}
