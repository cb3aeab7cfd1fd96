import type { CascadingIndex } from './cascading-index.ts';
import { CHUNK_SHIFT, CHUNKS, ENTRIES_PER_CHUNK, LIST_WORDS, TOMBSTONE } from './chunk-lists.ts';
import type { IndexSnapshot, LevelSnapshot, ListSnapshot } from './wheel-snapshot.ts';

/** Copies a cascading index out, by reading every list from its first cell to its last. */
export function inspectCascading(index: CascadingIndex): IndexSnapshot {
  const { geometry, lists, occupancy, occupied: counts } = index.filing;
  index.filing.sweep();
  const levels: LevelSnapshot[] = [];
  for (let level = 0; level <= geometry.levels; level++) {
    const base = geometry.base[level];
    const slots = geometry.mask[level] + 1;
    const found: ListSnapshot[] = [];
    const occupied: number[] = [];
    for (let i = 0; i < slots; i++) {
      if (occupancy.has(base + i)) occupied.push(i);
      if (lists.head(base + i) !== 0) found.push(inspectList(index, base + i, i));
    }
    levels.push({ width: geometry.width[level], slots, occupied, occupiedCount: counts[level], lists: found });
  }
  const { now, size } = index;
  return { engine: 'cascading', now, size, nextTick: index.nextTick(), nextEvent: index.nextEvent(), levels };
}

function inspectList(index: CascadingIndex, list: number, i: number): ListSnapshot {
  const { filing } = index;
  const { lists } = filing;
  const entries: ListSnapshot['entries'] = [];
  const last = lists.tail(list);
  let chunks = 0;
  for (let chunk = lists.head(list); ; chunk = lists.next(chunk)) {
    chunks++;
    for (let cell = chunk << CHUNK_SHIFT; cell < lists.endOf(list, chunk); cell += 2) {
      if (lists.cells[cell] === TOMBSTONE) continue;
      const slot = filing.slotAt(cell);
      entries.push({ slot, tick: filing.tickAt(cell), filed: lists.position[slot] === cell });
    }
    if (chunk === last) break;
  }
  if (chunks !== lists.lists[list * LIST_WORDS + CHUNKS])
    throw new Error(`list ${list} has ${chunks} chunks, and counts others`);
  return { index: i, live: lists.live(list), capacity: chunks * ENTRIES_PER_CHUNK, entries };
}
