/**
 * One record of 64 bytes, a cache line, per open connection; records are used again when a connection has ended.
 *
 *     word 0      1     2       3         4        5      6     7        8            9                10   11   15
 *         ┌──────┬─────┬───────┬─────────┬────────┬──────┬─────┬────────┬────────────┬────────────────┬────┬────────┐
 *         │ next │ due │ phase │ pending │ random │ left │ gap │ spread │ idle timer │ exchange timer │ id │ spare  │
 *         └──────┴─────┴───────┴─────────┴────────┴──────┴─────┴────────┴────────────┴────────────────┴────┴────────┘
 *
 * `next` links a calendar's bucket or the free list, never both: a record is in at most one of them. `pending` says
 * whether it is in the calendar. Whoever takes a record out of the calendar clears it.
 * Untouched records cost no memory: fresh ones are handed out only when none is free.
 */
export class ConnectionTable {
  readonly words: Int32Array;
  #free = -1;
  #fresh = 0;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * STRIDE);
  }

  /** The record's first word; -1 where every record is taken, which the caller's capacity rules out. */
  open(): number {
    const base = this.#free;
    if (base >= 0) {
      this.#free = this.words[base + NEXT]!;
      return base;
    }
    const fresh = this.#fresh;
    if (fresh === this.words.length) return -1;
    this.#fresh = fresh + STRIDE;
    return fresh;
  }

  release(base: number): void {
    this.words[base + NEXT] = this.#free;
    this.#free = base;
  }
}

export const STRIDE_BITS = 4;
const STRIDE = 1 << STRIDE_BITS;
export const NEXT = 0;
/** When the connection's next event is planned: ms since the replay's start. */
export const DUE = 1;
/** What that event is. */
export const PHASE = 2;
export const PENDING = 3;
/** State of the connection's own random numbers. */
export const RANDOM = 4;
/** Requests still to come, the one under way included. */
export const LEFT = 5;
/** Mean pause between two requests, in ms. */
export const GAP = 6;
/** Where this connection's timeouts lie within the jitter: 0 … 4095. */
export const SPREAD = 7;
/** The ledger's number of the connection's idle timer. */
export const IDLE_TIMER = 8;
/** The same for the other live timer: connect, request or TIME-WAIT, of which there is at most one. */
export const EXCHANGE_TIMER = 9;
/** The connection's number, never used again: the hint of all its timers. */
export const ID = 10;
