import type { TableView } from '../lane/table-view.ts';

const FIRST_SWEEP = 2 ** 13;

/**
 * The timers that a shard has taken, in the order of their first commands, as (slot, tag). With the table, this is all that a
 * successor needs to reach the same state, order within a tick included. Repeated entries and ended timers are removed when they
 * may be more than half: O(1) per command, at most 16 bytes per live timer beyond the first sweep.
 */
export class CommandJournal {
  private words = new Int32Array(FIRST_SWEEP);
  private length = 0;
  private readonly table: TableView;

  constructor(table: TableView) {
    this.table = table;
  }

  add(slot: number, tag: number): void {
    if (this.length === this.words.length) this.sweep();
    this.words[this.length] = slot;
    this.words[this.length + 1] = tag;
    this.length += 2;
  }

  /** The entries whose timer is live: slot, tag, slot, tag, … */
  entries(): Int32Array {
    this.sweep();
    return this.words.slice(0, this.length);
  }

  private sweep(): void {
    const { words, table } = this;
    const seen = new Int32Array((table.highWater() >>> 5) + 1);
    let kept = 0;
    for (let read = 0; read < this.length; read += 2) {
      const slot = words[read];
      const bit = 1 << (slot & 31);
      if (table.tagOf(slot) !== words[read + 1] || (seen[slot >>> 5] & bit) !== 0) continue;
      seen[slot >>> 5] |= bit;
      words[kept] = slot;
      words[kept + 1] = words[read + 1];
      kept += 2;
    }
    this.length = kept;
    if (kept * 2 <= words.length) return;
    this.words = new Int32Array(words.length * 2);
    this.words.set(words.subarray(0, kept));
  }
}
