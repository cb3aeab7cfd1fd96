import { wordsIn } from '../memory/shared-words.ts';

// Taken once: a program may replace them.
const { ceil, log2, max } = Math;

/**
 * A bounded queue of fixed-size records between one producing and one consuming thread.
 *
 *      head (consumer's)                 tail (producer's)
 *        ▼                                 ▼
 *   ┌────┬────┬────┬────┬────┬────┬────┬────┬────┐
 *   │    │ r₀ │ r₁ │ r₂ │ r₃ │ r₄ │ …  │    │    │   record i stands at cells[(i & mask) × stride]
 *   └────┴────┴────┴────┴────┴────┴────┴────┴────┘
 *
 * Invariant: 0 <= tail - head <= capacity, both free-running 32-bit counters that wrap. Records are written and read
 * with plain accesses; `publish` stores the tail atomically and so releases all records before it, and whatever else
 * the producer wrote before, to the consumer that loads it; `release` does the same for the room. Each side keeps a
 * private copy of its own counter and the last value it saw of the other's, so that a record costs no atomic operation
 * and a batch costs two. When the ring is full, room() = 0, and the producer keeps its records: nothing is overwritten,
 * and neither side waits.
 *
 * After the FastForward/Lynx family of single-producer single-consumer rings and Agrona's OneToOneRingBuffer.
 */
export interface RingMemory {
  readonly cells: SharedArrayBuffer;
  readonly stride: number;
}

/** The places of the two counters: words of the lane's header, each in its writer's group. */
export interface RingCounters {
  readonly words: Int32Array;
  readonly tail: number;
  readonly head: number;
}

export class RingProducer {
  readonly capacity: number;
  private readonly cells: Int32Array;
  private readonly stride: number;
  private readonly mask: number;
  private readonly counters: RingCounters;
  private tail: number;
  private seenHead: number;

  constructor(memory: RingMemory, counters: RingCounters) {
    this.cells = wordsIn(memory.cells);
    this.stride = memory.stride;
    this.capacity = this.cells.length / this.stride;
    this.mask = this.capacity - 1;
    this.counters = counters;
    // A producer that replaces a dead one continues after the last published record.
    this.tail = Atomics.load(counters.words, counters.tail);
    this.seenHead = Atomics.load(counters.words, counters.head);
  }

  /**
   * Number of records that may be pushed now. Loads the consumer's counter only if its last known value leaves fewer
   * than `wanted`.
   */
  room(wanted = 1): number {
    const room = this.capacity - ((this.tail - this.seenHead) | 0);
    return room >= wanted ? room : this.exactRoom();
  }

  /** Number of records that may be pushed now, by the consumer's present counter. */
  exactRoom(): number {
    this.seenHead = Atomics.load(this.counters.words, this.counters.head);
    return this.capacity - ((this.tail - this.seenHead) | 0);
  }

  /** Precondition: room() > 0. */
  pushPair(first: number, second: number): void {
    const at = (this.tail & this.mask) * this.stride;
    this.cells[at] = first;
    this.cells[at + 1] = second;
    this.tail = (this.tail + 1) | 0;
  }

  /** Precondition: room() > 0. */
  pushFour(first: number, second: number, third: number, fourth: number): void {
    const at = (this.tail & this.mask) * this.stride;
    this.cells[at] = first;
    this.cells[at + 1] = second;
    this.cells[at + 2] = third;
    this.cells[at + 3] = fourth;
    this.tail = (this.tail + 1) | 0;
  }

  /** Hands all pushed records to the consumer; returns false if there were none. */
  publish(): boolean {
    if (Atomics.load(this.counters.words, this.counters.tail) === this.tail) return false;
    Atomics.store(this.counters.words, this.counters.tail, this.tail); // releases the records; pairs with available()
    return true;
  }
}

export class RingConsumer {
  /** The records: see `at`. */
  readonly cells: Int32Array;
  private readonly stride: number;
  private readonly mask: number;
  private readonly counters: RingCounters;
  private head: number;
  /** The place in `cells` of the next record. */
  at: number;

  /** `cells`: all words of the memory, if they are not shared. */
  constructor(memory: RingMemory | { cells: Int32Array; stride: number }, counters: RingCounters) {
    this.cells = memory.cells instanceof Int32Array ? memory.cells : wordsIn(memory.cells);
    this.stride = memory.stride;
    this.mask = this.cells.length / this.stride - 1;
    this.counters = counters;
    this.head = Atomics.load(counters.words, counters.head);
    this.at = (this.head & this.mask) * this.stride;
  }

  /** Published records that have not been taken. */
  available(): number {
    return (Atomics.load(this.counters.words, this.counters.tail) - this.head) | 0; // acquires; pairs with publish()
  }

  /** The place in `cells` of the record after `count` others. Precondition: available() > count. */
  peek(count: number): number {
    return ((this.head + count) & this.mask) * this.stride;
  }

  /** Takes the next record and returns its place in `cells`; valid until release(). Precondition: available() > 0. */
  take(): number {
    const { at } = this;
    this.head = (this.head + 1) | 0;
    this.at = (this.head & this.mask) * this.stride;
    return at;
  }

  /** Gives the room of all taken records back to the producer. */
  release(): void {
    Atomics.store(this.counters.words, this.counters.head, this.head);
  }

  /** Drops everything that has been published so far. */
  skipAll(): void {
    this.head = Atomics.load(this.counters.words, this.counters.tail);
    this.at = (this.head & this.mask) * this.stride;
    this.release();
  }
}

/** A ring of a thread's own that has been filled with these pairs of words. */
export function ringOf(pairs: readonly number[]): RingConsumer {
  const count = pairs.length / 2;
  const cells = new Int32Array(2 * 2 ** ceil(log2(max(1, count))));
  cells.set(pairs);
  return new RingConsumer({ cells, stride: 2 }, { words: Int32Array.of(0, count), head: 0, tail: 1 });
}
