const CHUNK_BITS = 14;
const CHUNK_SLOTS = 2 ** CHUNK_BITS;
const CHUNK_MASK = CHUNK_SLOTS - 1;

/**
 * What the timers of a lane carry: callback and argument of each slot, which never leave the client's thread. Kept in
 * chunks that are made when a slot of theirs first carries something: one array would be copied as it grows, which stops
 * the event loop for milliseconds at millions of timers, and hold up to half as much again as is needed.
 */
export class Payload {
  /** Callback and argument of slot s of a chunk at 2s and 2s + 1. */
  private readonly chunks: (unknown[] | undefined)[];
  private readonly chunkLength: number;

  constructor(capacity: number) {
    this.chunkLength = Math.min(CHUNK_SLOTS, capacity) * 2;
    this.chunks = new Array<unknown[] | undefined>(Math.ceil(capacity / CHUNK_SLOTS)).fill(undefined);
  }

  /** Takes the place of whatever the slot carried before. */
  set(slot: number, callback: unknown, argument: unknown): void {
    const chunk = this.chunks[slot >> CHUNK_BITS];
    if (chunk === undefined) {
      if (callback !== undefined || argument !== undefined) this.begin(slot, callback, argument);
      return;
    }
    const at = (slot & CHUNK_MASK) * 2;
    chunk[at] = callback;
    chunk[at + 1] = argument;
  }

  clear(slot: number): void {
    this.set(slot, undefined, undefined);
  }

  callbackOf(slot: number): unknown {
    return this.chunks[slot >> CHUNK_BITS]?.[(slot & CHUNK_MASK) * 2];
  }

  argumentOf(slot: number): unknown {
    return this.chunks[slot >> CHUNK_BITS]?.[(slot & CHUNK_MASK) * 2 + 1];
  }

  private begin(slot: number, callback: unknown, argument: unknown): void {
    this.chunks[slot >> CHUNK_BITS] = new Array<unknown>(this.chunkLength).fill(undefined);
    this.set(slot, callback, argument);
  }
}
