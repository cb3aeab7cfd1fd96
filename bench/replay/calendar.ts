import { DUE, NEXT, PENDING } from './connection-table.ts';

const horizon = 1 << 16;
const mask = horizon - 1;

/**
 * When does which connection act next? A ring of buckets of one millisecond; a bucket is a list linked through the
 * connections' own records. This is the driver's clockwork and uses no timer of any kind.
 *
 *     heads   ┌──┬──┬──┬──┬──┬ … ┐        invariant: a record in bucket b is due at a time t with t mod 2^16 = b,
 *             └──┴─┬┴──┴──┴──┴ … ┘                   or later than the ring reaches: then `take` puts it back
 *        17 ◀─────42 (next)
 *
 * O(1), no allocation. Within a millisecond the order is last in, first out.
 */
export class Calendar {
  /** The millisecond being taken; everything before it has been taken. */
  cursor = 0;
  readonly #words: Int32Array;
  readonly #heads = new Int32Array(horizon).fill(-1);

  constructor(words: Int32Array) {
    this.#words = words;
  }

  /** The record must not be in the calendar. Due now or in the past counts as the next millisecond. */
  put(base: number, due: number): void {
    const words = this.#words;
    const ahead = due - this.cursor;
    words[base + DUE] = due;
    words[base + PENDING] = 1;
    const bucket = (ahead < 1 ? this.cursor + 1 : ahead < horizon ? due : this.cursor + mask) & mask;
    words[base + NEXT] = this.#heads[bucket]!;
    this.#heads[bucket] = base;
  }

  /** Takes a record that is due at the cursor; -1 where there is none left. */
  take(): number {
    const words = this.#words;
    const bucket = this.cursor & mask;
    for (;;) {
      const base = this.#heads[bucket]!;
      if (base < 0) return -1;
      this.#heads[bucket] = words[base + NEXT]!;
      const due = words[base + DUE]!;
      if (due <= this.cursor) {
        words[base + PENDING] = 0;
        return base;
      }
      this.put(base, due);
    }
  }
}
