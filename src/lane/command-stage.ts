import type { TimerTable } from './timer-table.ts';

/** Entries of a chunk: as many as gather before they are published without waiting for the end of the turn. */
export const CHUNK_ENTRIES = 4096;
const CHUNK_WORDS = 2 * CHUNK_ENTRIES;

/** The entries of `words` from `start` to `end`: slot, tag, slot, tag, … */
export interface StageChunk {
  readonly words: Int32Array;
  start: number;
  end: number;
}

const newChunk = (): StageChunk => ({ words: new Int32Array(CHUNK_WORDS), start: 0, end: 0 });

/**
 * Commands that have not been published: slot and tag of each, first in, first out.
 *
 *     older:  │ chunk │ chunk │ …      last:  │ chunk ░░░░ │
 *             └ taken from here                    └ added here
 *
 * An entry is written once and read once, however much waits before it; only the first chunk is looked at with each turn's
 * publication. Stale and doubled entries are cleared out when they must be more than half, so the stage is bounded by the
 * number of live timers, and a command costs O(1).
 *
 * The client publishes them through the lane's ring. Where the lane is served in the client's own thread, nothing needs to be
 * published: the index takes them from here, and the table tells what they ask for.
 */
export class CommandStage {
  /** Entries, the stale among them. */
  length = 0;
  /** Entries taken so far. */
  taken = 0;
  /** Entries dropped so far. */
  dropped = 0;
  /** An index in this thread takes the entries. It and the client are never at work at the same time. */
  isServedHere = false;
  private last = newChunk();
  private older: StageChunk[] = [];
  private readonly table: TimerTable;

  constructor(table: TimerTable) {
    this.table = table;
  }

  /** Entries added so far, but for what has been cleared out. */
  get added(): number {
    return this.taken + this.dropped + this.length;
  }

  /** Slots below this have been used. */
  get highWater(): number {
    return this.table.highWater;
  }

  /** Whether this many entries can be added. */
  hasRoom(entries: number): boolean {
    return this.last.end <= CHUNK_WORDS - 2 * entries;
  }

  /** Precondition: there is room. */
  add(slot: number, tag: number): void {
    const { last } = this;
    const { end, words } = last;
    words[end] = slot;
    words[end + 1] = tag;
    last.end = end + 2;
    this.length += 1;
  }

  /** Makes room for at least `entries` more, of CHUNK_ENTRIES at most. Throws, and loses nothing, where memory is refused. */
  grow(entries: number): void {
    if (this.length > 2 * this.table.size + CHUNK_ENTRIES) this.clearOut();
    if (this.hasRoom(entries)) return;
    const chunk = newChunk();
    this.older.push(this.last);
    this.last = chunk;
  }

  /**
   * The first entries of live timers among the first `limit`, once the stale before them are `dropped`; undefined
   * where none of them is left. The caller takes some of them by `take`.
   */
  firstLive(limit: number): StageChunk | undefined {
    for (let left = limit; left > 0 && this.length > 0; ) {
      const chunk = this.older.length > 0 ? this.older[0] : this.last;
      const entries = Math.min(left, (chunk.end - chunk.start) / 2);
      left -= entries;
      if (this.dropStale(chunk, entries) < entries) return chunk;
      if (chunk.start === chunk.end) this.drop(chunk);
    }
    return undefined;
  }

  /** All entries, in the order in which they were added; the stale among them. */
  chunks(): StageChunk[] {
    return [...this.older, this.last];
  }

  /** Takes this many of the entries that `firstLive` has returned. */
  take(chunk: StageChunk, entries: number): void {
    chunk.start += 2 * entries;
    this.length -= entries;
    this.taken += entries;
    if (chunk.start === chunk.end) this.drop(chunk);
  }

  /** Precondition: nothing is left in the chunk, which is the first. */
  private drop(chunk: StageChunk): void {
    if (chunk !== this.last) {
      this.older.shift();
      return;
    }
    chunk.start = 0;
    chunk.end = 0;
  }

  /**
   * Drops those of the chunk's first `entries` whose timer has ended, and moves the others up to what follows. Returns how
   * many it dropped. A loop of its own, so short that the processor has the next records on their way while it waits for one;
   * the reader of the entries then finds them in its cache.
   */
  private dropStale(chunk: StageChunk, entries: number): number {
    const { table } = this;
    const { start, words } = chunk;
    const end = start + 2 * entries;
    let kept = end;
    for (let read = end - 2; read >= start; read -= 2) {
      const slot = words[read];
      const tag = words[read + 1];
      if (table.tagOf(slot) !== tag) continue;
      kept -= 2;
      words[kept] = slot;
      words[kept + 1] = tag;
    }
    chunk.start = kept;
    const dropped = (kept - start) / 2;
    this.length -= dropped;
    this.dropped += dropped;
    return dropped;
  }

  /** Drops whatever is stale, or stands here twice, and closes the gaps. Throws, and changes nothing, where memory is refused. */
  private clearOut(): void {
    const { table } = this;
    const seen = new Int32Array((table.highWater >>> 5) + 1);
    const chunks = [...this.older, this.last];
    let filled = 0;
    let to = 0; // never beyond what is read
    let length = 0;
    for (const { end, start, words } of chunks) {
      for (let read = start; read < end; read += 2) {
        const slot = words[read];
        const tag = words[read + 1];
        const bit = 1 << (slot & 31);
        if (table.tagOf(slot) !== tag || (seen[slot >>> 5] & bit) !== 0) continue;
        seen[slot >>> 5] |= bit;
        if (to === CHUNK_WORDS) {
          filled += 1;
          to = 0;
        }
        chunks[filled].words[to] = slot;
        chunks[filled].words[to + 1] = tag;
        to += 2;
        length += 1;
      }
    }
    chunks.length = filled + 1;
    for (const chunk of chunks) {
      chunk.start = 0;
      chunk.end = CHUNK_WORDS;
    }
    this.last = chunks.pop() as StageChunk;
    this.last.end = to;
    this.older = chunks;
    this.length = length;
  }
}
