import { ownWords, ownWordsAtLeast } from '../../memory/own-words.ts';
import type { PlaceWords } from '../wheel-index.ts';

// Taken once: a program may replace them.
const { ceil, clz32, max, min } = Math;

/**
 * Many ordered lists of slots in one growable array: append at the end, remove anywhere, read from the front.
 *
 *   chunk (128 words)  │ slot, low │ slot, low │ …  63 entries … │ next chunk │ – │
 *   heads[list]        = its first chunk, 0 if it has none
 *   cursors[list]      = the cell of its next entry
 *   chunkCounts[list]  = how many chunks it has
 *   position[slot]     = the cell of the slot's entry, 0 or less if it has none; it is the word slot << positionShift,
 *                        since it may be part of the owner's records (see PlaceWords)
 *
 * An entry is (slot with flags, low 32 bits of its tick), read in order of memory. It is live if its slot's position
 * names its cell. So clearing a slot's position removes it, without touching the cell, and readers of a list skip the
 * dead entries. Dead entries are bounded over all lists together: when they take too much room (`isWasteful`), the
 * user compacts one list after the other.
 *
 *   - Chunk 0 is never used. All chunks of a list but its last are full; the last one's link is 0.
 *   - A dead entry stays dead: its cell is written again before any position names it.
 */
export const CHUNK_SHIFT = 7;
export const CHUNK_WORDS = 1 << CHUNK_SHIFT;
/** Offset of the link to the next chunk; entries lie before it. */
export const LINK = CHUNK_WORDS - 2;
export const ENTRIES_PER_CHUNK = LINK / 2;
/** A slot word is the slot and, above it, the owner's flags. */
export const SLOT_MASK = 2 ** 24 - 1;

// V8: folded constants
const SHIFT = CHUNK_SHIFT;
const LINK_AT = LINK;
const IN_CHUNK = CHUNK_WORDS - 1;
const HALF = CHUNK_WORDS / 2;
const ENTRIES = ENTRIES_PER_CHUNK;
const SLOT = SLOT_MASK;

/** The cursor of a list without chunks: at the end of chunk 0, so that the first append asks for a chunk. */
const NO_CHUNK = LINK;
/**
 * Entries per live one above which lists are compacted: then a third of the entries moves, and two thirds are removed.
 */
const MAX_ENTRIES = 3;
const INITIAL_CHUNKS = 18;
const INITIAL_SLOTS = 256;
/** Large, since growing copies everything; untouched memory costs nothing. */
const GROWTH = 4;
/** Smaller for large arrays, since entries take most of the memory. */
const CHUNKS_GROWTH = 2;
const MANY_CHUNKS = 2 ** 15;
const MANY_CHUNKS_GROWTH = 1.5;

/** Makes an array of the given number of words, all 0. Throws AllocationError. */
export type AllocateWords = (count: number) => Int32Array;

export class ChunkLists {
  // V8: declared fields
  cells: Int32Array;
  position: Int32Array;
  protected positionShift = 0;
  /** Slots below it have a position. */
  protected room = 0;
  readonly heads: Int32Array;
  readonly cursors: Int32Array;
  readonly chunkCounts: Int32Array;
  private readonly capacity: number;
  private freeChunk = 0;
  private usedChunks = 1;
  /** Chunks in lists. */
  private chunks = 0;

  /**
   * `reserve`: number of live entries for which no array ever has to grow, dead entries and part-filled chunks
   * included. `words` allocates arrays of at least that size.
   */
  constructor(lists: number, capacity: number, reserve: number, words: AllocateWords = ownWords) {
    const chunks = reserve === 0 ? INITIAL_CHUNKS : 1 + ceil((reserve * MAX_ENTRIES) / ENTRIES) + 3 * lists;
    this.capacity = capacity;
    this.cells = words(chunks << SHIFT);
    this.position = words(min(capacity, max(reserve, INITIAL_SLOTS)));
    this.room = this.position.length;
    this.heads = ownWords(lists);
    this.cursors = ownWords(lists).fill(NO_CHUNK);
    this.chunkCounts = ownWords(lists);
  }

  protected get bytesOfLists(): number {
    const { cells, position, positionShift } = this;
    const positions = positionShift === 0 ? position.byteLength : 0;
    return cells.byteLength + positions + this.bytesPerLists;
  }

  /** Bytes of the fields per list. */
  protected get bytesPerLists(): number {
    return this.heads.byteLength + this.cursors.byteLength + this.chunkCounts.byteLength;
  }

  protected get usedBytesOfCells(): number {
    return (this.usedChunks << SHIFT) * this.cells.BYTES_PER_ELEMENT;
  }

  /**
   * Gives a list another chunk. Returns the cell of its next entry. The caller appends, within a hot path: if the
   * cursor is at a LINK, extend; write slot word and low word; advance the cursor by 2. Precondition: there is a chunk,
   * see `reserveChunks`.
   */
  protected addChunk(list: number): number {
    let chunk = this.freeChunk;
    if (chunk !== 0) {
      this.freeChunk = this.nextChunk(chunk);
    } else {
      chunk = this.usedChunks++;
    }
    this.chunks++;
    this.chunkCounts[list]++;
    // For a list without chunks this writes the link of chunk 0, which is never read.
    this.cells[this.cursors[list]] = chunk;
    if (this.heads[list] === 0) this.heads[list] = chunk;
    const cell = chunk << SHIFT;
    this.cells[cell + LINK_AT] = 0;
    this.cursors[list] = cell;
    return cell;
  }

  /** Makes sure of so many further chunks. If memory is refused, throws and changes nothing. */
  protected reserveChunks(count: number): void {
    const least = this.chunks + 1 + count; // all others are free
    if (least > this.usedChunks && least << SHIFT > this.cells.length) this.growCells(least);
  }

  /** Whether dead entries take too much room, not counting 2 chunks for each list in use, which may be part-filled. */
  protected isWasteful(live: number, listsInUse: number): boolean {
    return (this.chunks - 2 * listsInUse - 1) * ENTRIES > live * MAX_ENTRIES;
  }

  /** The cell after a chunk's last entry. */
  endOf(list: number, chunk: number): number {
    const full = (chunk << SHIFT) + LINK_AT;
    return this.nextChunk(chunk) === 0 ? this.cursors[list] : full;
  }

  /** 0 after the last. */
  nextChunk(chunk: number): number {
    return this.cells[(chunk << SHIFT) + LINK_AT];
  }

  forEach(visit: (slot: number) => void): void {
    const { cells, heads, position, positionShift } = this;
    for (let list = 0; list < heads.length; list++) {
      for (let chunk = heads[list]; chunk !== 0; chunk = this.nextChunk(chunk)) {
        const end = this.endOf(list, chunk);
        for (let cell = chunk << SHIFT; cell < end; cell += 2) {
          const slot = cells[cell] & SLOT;
          if (position[slot << positionShift] === cell) visit(slot);
        }
      }
    }
  }

  /** Frees the whole chain. Precondition: it has no live entry. */
  protected release(list: number): void {
    for (let chunk = this.detach(list); chunk !== 0; ) {
      const next = this.nextChunk(chunk);
      this.freeUp(chunk);
      chunk = next;
    }
  }

  /** Makes a list empty and leaves its chunks to the caller, which frees them one by one. Returns the first. */
  protected detach(list: number): number {
    const head = this.heads[list];
    this.heads[list] = 0;
    this.cursors[list] = NO_CHUNK;
    this.chunkCounts[list] = 0;
    return head;
  }

  protected freeUp(chunk: number): void {
    this.chunks--;
    this.cells[(chunk << SHIFT) + LINK_AT] = this.freeChunk;
    this.freeChunk = chunk;
  }

  /** Frees a list's first chunk. Precondition: all its entries are dead. Returns the next, 0 after the last. */
  protected dropHead(list: number): number {
    const head = this.heads[list];
    const next = this.nextChunk(head);
    this.heads[list] = next;
    this.chunkCounts[list]--;
    this.freeUp(head);
    return next;
  }

  /**
   * Moves the live entries of a list together, in order, and frees the chunks that this empties. Returns whether there
   * are any.
   */
  protected compact(list: number): boolean {
    const first = this.heads[list] << SHIFT;
    let to = first;
    for (let chunk = this.heads[list]; chunk !== 0; chunk = this.nextChunk(chunk)) {
      const start = chunk << SHIFT;
      const end = this.endOf(list, chunk);
      to = this.moveLiving(start, this.livingIn(start, end), to);
      to = this.moveLiving(start + HALF, this.livingIn(start + HALF, end), to);
    }
    this.cursors[list] = to;
    const last = to >>> SHIFT;
    let emptied = this.nextChunk(last);
    this.cells[(last << SHIFT) + LINK_AT] = 0;
    while (emptied !== 0) {
      const next = this.nextChunk(emptied);
      this.chunkCounts[list]--;
      this.freeUp(emptied);
      emptied = next;
    }
    return to !== first;
  }

  /**
   * The entries alive in half a chunk, a bit each; `end` is where the chunk's entries end. It does little but look
   * positions up, without a branch that depends on one: so the cache misses overlap. A branch that waits for a miss and
   * is then mispredicted costs the whole miss, for each entry.
   */
  protected livingIn(from: number, end: number): number {
    const { cells, position, positionShift } = this;
    const stop = min(end, from + HALF);
    let living = 0;
    for (let cell = from; cell < stop; cell += 2) {
      living |= (position[(cells[cell] & SLOT) << positionShift] === cell ? 1 : 0) << (cell >>> 1);
    }
    return living;
  }

  protected clearLists(): void {
    this.freeChunk = 0;
    this.usedChunks = 1;
    this.chunks = 0;
    const { position, positionShift } = this;
    // What is below 0 is the user's.
    for (let slot = 0; slot < this.room; slot++) {
      if (position[slot << positionShift] > 0) position[slot << positionShift] = 0;
    }
    this.heads.fill(0);
    this.cursors.fill(NO_CHUNK);
    this.chunkCounts.fill(0);
  }

  /** Keeps positions in the owner's words; the owner provides enough of them. */
  usePlaces({ words, shift }: PlaceWords): void {
    this.position = words;
    this.positionShift = shift;
    this.room = words.length >>> shift;
  }

  /** Makes room for the position of `slot`. If memory is refused, throws and changes nothing. */
  protected growPosition(slot: number): void {
    const position = ownWordsAtLeast(slot + 1, min(this.capacity, this.position.length * GROWTH));
    position.set(this.position);
    this.position = position;
    this.room = position.length;
  }

  /**
   * Moves the entries of half a chunk that `living` shows to a cell and those after it. Returns the cell after the
   * last.
   */
  private moveLiving(from: number, living: number, to: number): number {
    const { cells, position, positionShift } = this;
    for (let left = living | 0; left !== 0; ) {
      const others = left & (left - 1);
      const cell = (from + 2 * (31 - clz32(left ^ others))) | 0;
      left = others;
      if ((to & IN_CHUNK) === LINK_AT) to = cells[to] << SHIFT;
      const word = cells[cell];
      cells[to] = word;
      cells[to + 1] = cells[cell + 1];
      position[(word & SLOT) << positionShift] = to;
      to += 2;
    }
    return to;
  }

  private growCells(least: number): void {
    const chunks = this.cells.length >>> SHIFT;
    const growth = chunks < MANY_CHUNKS ? CHUNKS_GROWTH : MANY_CHUNKS_GROWTH;
    const cells = ownWordsAtLeast(least << SHIFT, ceil(chunks * growth) << SHIFT);
    cells.set(this.cells);
    this.cells = cells;
  }
}
