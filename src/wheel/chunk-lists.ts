/**
 * Many ordered lists of slots in one growable array: append at the end, take out anywhere, read from the front.
 *
 *   chunk (128 words)  │ slot, low │ slot, low │ …  63 entries … │ next chunk │ – │
 *   list (2 words)     │ head chunk │ cursor: cell of the next entry │
 *   position[slot]     = cell of the slot's entry, 0 where it has none
 *
 * An entry is (slot with flags, low 32 bits of its tick), read in order of memory. It is alive if its slot's position
 * names its cell; so a slot is taken out by clearing its position, without a touch of the cell, and whoever reads a list
 * passes over the dead. Dead entries are bounded over all lists together: when they take too much room (`crowded`), the
 * user compacts one list after the other.
 *
 *   - Chunk 0 is never used. All chunks of a list but its last are full.
 *   - A dead entry stays dead: its cell is written again before any position names it.
 */
export const CHUNK_SHIFT = 7;
export const CHUNK_WORDS = 1 << CHUNK_SHIFT;
/** Offset of the link to the next chunk; entries lie before it. */
export const LINK = CHUNK_WORDS - 2;
export const ENTRIES_PER_CHUNK = LINK / 2;

export const LIST_WORDS = 2;
const HEAD = 0;
export const CURSOR = 1;
/** A slot word is the slot and, above it, flags of the user's. */
export const SLOT_MASK = 2 ** 24 - 1;
/** The cursor of a list without chunks: at the end of chunk 0, so that the first append asks for a chunk. */
const NO_CHUNK = LINK;

export class ChunkLists {
  cells: Int32Array;
  position: Int32Array;
  readonly lists: Int32Array;
  private freeChunk = 0;
  private usedChunks = 1;
  /** Chunks in lists. */
  private chunks = 0;

  /** `reserve`: live entries for which the array shall never have to grow, the dead and part-filled chunks included. */
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
    this.chunks++;
    // Of a list without chunks, this writes the link of chunk 0, which nobody reads.
    this.cells[this.lists[at + CURSOR]] = chunk;
    if (this.lists[at + HEAD] === 0) this.lists[at + HEAD] = chunk;
    const cell = chunk << CHUNK_SHIFT;
    this.lists[at + CURSOR] = cell;
    return cell;
  }

  /** Whether the dead take too much room: entries > 2.2 x live + 2 chunks for each list in use, which may be part-filled. */
  crowded(live: number, listsInUse: number): boolean {
    return (this.chunks - 2 * listsInUse - 1) * ENTRIES_PER_CHUNK > live * 2.2;
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

  /** Gives the whole chain back. Precondition: none of its entries is alive. */
  release(list: number): void {
    const last = this.tail(list);
    for (let chunk = this.detach(list), next = 0; chunk !== 0; chunk = next) {
      next = chunk === last ? 0 : this.next(chunk);
      this.free(chunk);
    }
  }

  /** Makes a list empty and leaves its chunks to the caller, who frees them one by one. Returns the first. */
  detach(list: number): number {
    const at = list * LIST_WORDS;
    const head = this.lists[at + HEAD];
    this.lists[at + HEAD] = 0;
    this.lists[at + CURSOR] = NO_CHUNK;
    return head;
  }

  next(chunk: number): number {
    return this.cells[(chunk << CHUNK_SHIFT) + LINK];
  }

  free(chunk: number): void {
    this.chunks--;
    this.cells[(chunk << CHUNK_SHIFT) + LINK] = this.freeChunk;
    this.freeChunk = chunk;
  }

  /** Frees a list's first chunk. Precondition: all its entries are dead, and it is not the last. */
  dropHead(list: number): void {
    const at = list * LIST_WORDS;
    const head = this.lists[at + HEAD];
    this.lists[at + HEAD] = this.next(head);
    this.free(head);
  }

  /** Moves the live entries of a list together, in order, and frees the chunks that this empties. Returns whether there are any. */
  compact(list: number): boolean {
    const { cells, lists, position } = this;
    const at = list * LIST_WORDS;
    const cursor = lists[at + CURSOR];
    const tail = cursor >>> CHUNK_SHIFT;
    const first = lists[at + HEAD] << CHUNK_SHIFT;
    let to = first;
    for (let chunk = lists[at + HEAD]; ; chunk = this.next(chunk)) {
      const end = chunk === tail ? cursor : (chunk << CHUNK_SHIFT) + LINK;
      for (let from = chunk << CHUNK_SHIFT; from < end; from += 2) {
        const word = cells[from];
        const slot = word & SLOT_MASK;
        if (position[slot] !== from) continue;
        if ((to & (CHUNK_WORDS - 1)) === LINK) to = cells[to] << CHUNK_SHIFT;
        cells[to] = word;
        cells[to + 1] = cells[from + 1];
        position[slot] = to;
        to += 2;
      }
      if (chunk === tail) break;
    }
    lists[at + CURSOR] = to;
    let emptied = this.next(to >>> CHUNK_SHIFT);
    for (let last = to >>> CHUNK_SHIFT; last !== tail; ) {
      last = emptied;
      emptied = this.next(last);
      this.free(last);
    }
    return to !== first;
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
    this.chunks = 0;
    this.position.fill(0);
    this.lists.fill(0);
    for (let list = CURSOR; list < this.lists.length; list += LIST_WORDS) this.lists[list] = NO_CHUNK;
  }

  get bytes(): number {
    return this.cells.byteLength + this.position.byteLength + this.lists.byteLength;
  }

  private growCells(): void {
    const cells = new Int32Array(this.cells.length * 2);
    cells.set(this.cells);
    this.cells = cells;
  }
}
