import { ownWords } from '../memory/own-words.ts';
import type { TimerTable } from './timer-table.ts';

// Taken once: a program may replace them.
const { min } = Math;

/**
 * Entries of a chunk. A stage that is full is published, or taken by the index; behind a full ring it gets another
 * chunk. When they are read again, they are still in the processor's cache.
 */
export const CHUNK_ENTRIES = 4096;
const CHUNK_WORDS = 2 * CHUNK_ENTRIES;

/** The entries of `words` from `start` to `end`: slot, tag, slot, tag, … */
export interface StageChunk {
  readonly words: Int32Array;
  start: number;
  end: number;
}

const newChunk = (): StageChunk => ({ words: ownWords(CHUNK_WORDS), start: 0, end: 0 });

/**
 * Commands that have not been published: slot and tag of each, first in, first out.
 *
 *     older:  │ chunk │ chunk │ …      last:  │ chunk ░░░░ │
 *             └ taken from here                    └ added here
 *
 * They wait until somebody needs one of them, or a chunk is full. An entry is written once and read once, however many
 * wait before it. Stale and repeated entries are removed when they must be more than half, so the stage is bounded by
 * the number of live timers, and a command costs O(1).
 *
 * The client publishes them through the lane's ring. If the lane is served in the client's own thread, nothing needs to
 * be published: the index takes them from here, and their values from the table.
 */
export class CommandStage {
  /** Number of entries, stale ones included. */
  length = 0;
  /** Entries taken so far. */
  taken = 0;
  /** Entries dropped so far. */
  dropped = 0;
  /** How often stale and repeated entries have been removed from any place. */
  clearings = 0;
  /** Whether an index in this thread takes the entries. It and the client never work at the same time. */
  isServedHere = false;
  /** Whether that index is to take the present entries in its next turn: else they wait. */
  isWanted = false;
  private last = newChunk();
  private older: StageChunk[] = [];
  readonly table: TimerTable;

  constructor(table: TimerTable) {
    this.table = table;
  }

  /** Entries added so far, without removed ones. */
  get added(): number {
    return this.taken + this.dropped + this.length;
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

  /** Makes room for at least `entries` more, at most CHUNK_ENTRIES. If memory is refused, throws and loses nothing. */
  grow(entries: number): void {
    if (this.length > 2 * this.table.size + CHUNK_ENTRIES) this.clearOut();
    if (this.hasRoom(entries)) return;
    const chunk = newChunk();
    this.older.push(this.last);
    this.last = chunk;
  }

  /**
   * Returns the first entries of live timers among the first `limit`, after the stale ones before them are `dropped`;
   * undefined if none is left. The caller takes some of them by `take`.
   */
  firstLive(limit: number): StageChunk | undefined {
    for (let left = limit; left > 0 && this.length > 0; ) {
      const chunk = this.older.length > 0 ? this.older[0] : this.last;
      const entries = min(left, (chunk.end - chunk.start) / 2);
      left -= entries;
      if (this.dropStale(chunk, entries) < entries) return chunk;
      if (chunk.start === chunk.end) this.drop(chunk);
    }
    return undefined;
  }

  /** All entries in the order in which they were added, stale ones included. */
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
   * Drops those of the chunk's first `entries` whose timer has ended, and moves the others up against the following
   * ones. Returns how many it dropped. The separate loop is so short that the processor loads the next records while it
   * waits for one; the reader of the entries then finds them in its cache.
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

  /** Removes stale and repeated entries, and closes the gaps. If memory is refused, throws and changes nothing. */
  private clearOut(): void {
    const { table } = this;
    const seen = ownWords((table.highWater >>> 5) + 1);
    const chunks = this.chunks();
    let filled = 0;
    let to = 0; // never beyond the read position
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
    this.clearings += 1;
  }
}
