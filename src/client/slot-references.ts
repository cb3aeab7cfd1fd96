// Taken once: a program may replace them.
const { ceil, min } = Math;

const CHUNK_BITS = 14;
const CHUNK_SLOTS = 2 ** CHUNK_BITS;
const CHUNK_MASK = CHUNK_SLOTS - 1;

/**
 * A reference per slot, in chunks that are created at the first reference of a chunk. A single array would be copied as it grows:
 * that stops the event loop for milliseconds at millions of timers, and holds up to half as much again as necessary.
 */
export class SlotReferences {
  private readonly chunks: (unknown[] | undefined)[];
  private readonly chunkLength: number;

  constructor(capacity: number) {
    this.chunkLength = min(CHUNK_SLOTS, capacity);
    this.chunks = new Array<unknown[] | undefined>(ceil(capacity / CHUNK_SLOTS)).fill(undefined);
  }

  get(slot: number): unknown {
    return this.chunks[slot >> CHUNK_BITS]?.[slot & CHUNK_MASK];
  }

  set(slot: number, reference: unknown): void {
    const chunk = this.chunks[slot >> CHUNK_BITS] ?? this.begin(slot);
    chunk[slot & CHUNK_MASK] = reference;
  }

  private begin(slot: number): unknown[] {
    const chunk = new Array<unknown>(this.chunkLength).fill(undefined);
    this.chunks[slot >> CHUNK_BITS] = chunk;
    return chunk;
  }
}
