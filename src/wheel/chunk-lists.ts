/**
 * Many ordered lists of slots in one growable array: append at the end, take out anywhere, read from the front.
 *
 *   chunk (128 words)  │ slot, low │ slot, low │ …  63 entries … │ next chunk │ – │
 *   list (4 words)     │ head chunk │ cursor: cell of the next entry │ dead │ chunks │
 *
 * An entry is (slot with flags, low 32 bits of its tick), read in order of memory. Taking one out overwrites its slot
 * with TOMBSTONE; a list without live entries gives its whole chain back in O(1), and one whose tombstones outnumber
 * the living by far is compacted in order: entries <= 2.2 live + 126 in each list that is not under a reader's eyes.
 *
 *   - position[slot] = cell of the slot's entry, 0 where it has none. Chunk 0 is never used.
 *   - All chunks of a list but its last are full.
 */
export const CHUNK_SHIFT = 7;
export const CHUNK_WORDS = 1 << CHUNK_SHIFT;
/** Offset of the link to the next chunk; entries lie before it. */
export const LINK = CHUNK_WORDS - 2;
export const ENTRIES_PER_CHUNK = LINK / 2;
export const TOMBSTONE = -1;

export const LIST_WORDS = 4;
export const HEAD = 0;
export const CURSOR = 1;
export const DEAD = 2;
export const CHUNKS = 3;
/** The cursor of a list without chunks: at the end of chunk 0, so that the first append asks for a chunk. */
const NO_CHUNK = LINK;

export class ChunkLists {
  cells: Int32Array;
  position: Int32Array;
  readonly lists: Int32Array;
  private freeChunk = 0;
  private usedChunks = 1;

  /** `reserve`: live entries for which the array shall never have to grow, tombstones and part-filled chunks included. */
  constructor(lists: number, slots: number, reserve: number) {
    const chunks = reserve === 0 ? 16 : 1 + Math.ceil((reserve * 2.2) / ENTRIES_PER_CHUNK) + 3 * lists;
    this.cells = new Int32Array(chunks << CHUNK_SHIFT);
    this.position = new Int32Array(slots);
    this.lists = new Int32Array(lists * LIST_WORDS);
    for (let list = CURSOR; list < this.lists.length; list += LIST_WORDS) this.lists[list] = NO_CHUNK;
  }

  /**
   * Gives a list another chunk. Returns the cell of its next entry. Appending is left to the user, who does it in the
   * midst of a hot path: if the cursor stands at a LINK, extend; write slot word and low word; advance the cursor by 2.
   */
  extend(list: number): number {
    const at = list * LIST_WORDS;
    let chunk = this.freeChunk;
    if (chunk !== 0) {
      this.freeChunk = this.next(chunk);
    } else {
      chunk = this.usedChunks++;
      if (this.usedChunks << CHUNK_SHIFT > this.cells.length) this.growCells();
    }
    // Of a list without chunks, this writes the link of chunk 0, which nobody reads.
    this.cells[this.lists[at + CURSOR]] = chunk;
    if (this.lists[at + HEAD] === 0) this.lists[at + HEAD] = chunk;
    this.lists[at + CHUNKS]++;
    return chunk << CHUNK_SHIFT;
  }

  /** Counts an entry of a list as buried: its cell has been overwritten. Returns the live entries left. */
  bury(list: number): number {
    const at = list * LIST_WORDS;
    const dead = this.lists[at + DEAD] + 1;
    this.lists[at + DEAD] = dead;
    return this.entries(at) - dead;
  }

  /** Whether tombstones take too much room: entries > 2.2 x live + 2 chunks. */
  wasteful(list: number, live: number): boolean {
    return this.lists[list * LIST_WORDS + DEAD] * 5 > live * 6 + 10 * ENTRIES_PER_CHUNK;
  }

  live(list: number): number {
    const at = list * LIST_WORDS;
    return this.entries(at) - this.lists[at + DEAD];
  }

  /** First chunk of a list, 0 where it has none. */
  head(list: number): number {
    return this.lists[list * LIST_WORDS + HEAD];
  }

  tail(list: number): number {
    return this.lists[list * LIST_WORDS + CURSOR] >>> CHUNK_SHIFT;
  }

  /** The cell after a chunk's last entry. */
  endOf(list: number, chunk: number): number {
    const cursor = this.lists[list * LIST_WORDS + CURSOR];
    return cursor >>> CHUNK_SHIFT === chunk ? cursor : (chunk << CHUNK_SHIFT) + LINK;
  }

  /** Gives the whole chain back. Precondition: nobody looks for its entries by position any more. */
  release(list: number): void {
    const at = list * LIST_WORDS;
    const head = this.lists[at + HEAD];
    if (head === 0) return;
    const tail = this.lists[at + CURSOR] >>> CHUNK_SHIFT;
    this.cells[(tail << CHUNK_SHIFT) + LINK] = this.freeChunk;
    this.freeChunk = head;
    this.detach(list);
  }

  /** Makes a list empty and leaves its chunks to the caller, who frees them one by one. Returns the first. */
  detach(list: number): number {
    const at = list * LIST_WORDS;
    const head = this.lists[at + HEAD];
    this.lists[at + HEAD] = 0;
    this.lists[at + CURSOR] = NO_CHUNK;
    this.lists[at + DEAD] = 0;
    this.lists[at + CHUNKS] = 0;
    return head;
  }

  next(chunk: number): number {
    return this.cells[(chunk << CHUNK_SHIFT) + LINK];
  }

  free(chunk: number): void {
    this.cells[(chunk << CHUNK_SHIFT) + LINK] = this.freeChunk;
    this.freeChunk = chunk;
  }

  /** Frees a list's first chunk, all of whose entries are dead. Precondition: it is not the last. */
  dropHead(list: number): void {
    const at = list * LIST_WORDS;
    const head = this.lists[at + HEAD];
    this.lists[at + HEAD] = this.next(head);
    this.lists[at + CHUNKS]--;
    this.lists[at + DEAD] -= ENTRIES_PER_CHUNK;
    this.free(head);
  }

  /** Moves the live entries of a list together, in order, and frees the chunks that this empties. */
  compact(list: number, slotMask: number): void {
    const { cells, lists, position } = this;
    const at = list * LIST_WORDS;
    const cursor = lists[at + CURSOR];
    const tail = cursor >>> CHUNK_SHIFT;
    let to = lists[at + HEAD] << CHUNK_SHIFT;
    let chunks = 1;
    for (let chunk = lists[at + HEAD]; ; chunk = this.next(chunk)) {
      const end = chunk === tail ? cursor : (chunk << CHUNK_SHIFT) + LINK;
      for (let from = chunk << CHUNK_SHIFT; from < end; from += 2) {
        const word = cells[from];
        if (word === TOMBSTONE) continue;
        if ((to & (CHUNK_WORDS - 1)) === LINK) {
          to = cells[to] << CHUNK_SHIFT;
          chunks++;
        }
        cells[to] = word;
        cells[to + 1] = cells[from + 1];
        position[word & slotMask] = to;
        to += 2;
      }
      if (chunk === tail) break;
    }
    const last = to >>> CHUNK_SHIFT;
    if (last !== tail) {
      cells[(tail << CHUNK_SHIFT) + LINK] = this.freeChunk;
      this.freeChunk = this.next(last);
    }
    lists[at + CURSOR] = to;
    lists[at + CHUNKS] = chunks;
    lists[at + DEAD] = 0;
  }

  /** Makes room for `slot`. */
  growPosition(slot: number, capacity: number): void {
    const position = new Int32Array(Math.min(capacity, Math.max(slot + 1, this.position.length * 2)));
    position.set(this.position);
    this.position = position;
  }

  clear(): void {
    this.freeChunk = 0;
    this.usedChunks = 1;
    this.position.fill(0);
    this.lists.fill(0);
    for (let list = CURSOR; list < this.lists.length; list += LIST_WORDS) this.lists[list] = NO_CHUNK;
  }

  get bytes(): number {
    return this.cells.byteLength + this.position.byteLength + this.lists.byteLength;
  }

  /** Entries of a list, alive or dead: all its chunks but the last are full. 0 - 63 + 63 of a list without chunks. */
  private entries(at: number): number {
    const { lists } = this;
    return (lists[at + CHUNKS] - 1) * ENTRIES_PER_CHUNK + ((lists[at + CURSOR] & (CHUNK_WORDS - 1)) >> 1);
  }

  private growCells(): void {
    const cells = new Int32Array(this.cells.length * 2);
    cells.set(this.cells);
    this.cells = cells;
  }
}
