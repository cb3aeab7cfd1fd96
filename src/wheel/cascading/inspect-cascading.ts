import type { IndexSnapshot, LevelSnapshot, ListSnapshot } from '../wheel-snapshot.ts';
import { CHUNK_SHIFT, ENTRIES_PER_CHUNK } from './chunk-lists.ts';
import type { SlotLists } from './slot-lists.ts';

/** The parts of a cascading index that are read here. */
export interface InspectedIndex extends SlotLists {
  nextTick(): number;
  nextEvent(): number;
  tickOf(slot: number): number;
}

/** Copies a cascading index out, by reading every list from its first cell to its last. */
export function inspectCascading(index: InspectedIndex): IndexSnapshot {
  const { geometry, heads, occupancy, occupied: counts } = index;
  const { now, size } = index;
  const nextTick = index.nextTick();
  const levels: LevelSnapshot[] = [];
  for (let level = 0; level <= geometry.levels; level++) {
    const base = geometry.base[level];
    const slots = geometry.mask[level] + 1;
    const found: ListSnapshot[] = [];
    const occupied: number[] = [];
    for (let i = 0; i < slots; i++) {
      if (occupancy.has(base + i)) occupied.push(i);
      if (heads[base + i] !== 0) found.push(inspectList(index, base + i, i));
    }
    levels.push({ width: geometry.width[level], slots, occupied, occupiedCount: counts[level], lists: found });
  }
  return { engine: 'cascading', now, size, nextTick, nextEvent: index.nextEvent(), levels };
}

function inspectList(index: InspectedIndex, list: number, i: number): ListSnapshot {
  const entries: ListSnapshot['entries'] = [];
  let chunks = 0;
  for (let chunk = index.heads[list]; chunk !== 0; chunk = index.nextChunk(chunk)) {
    chunks++;
    for (let cell = chunk << CHUNK_SHIFT; cell < index.endOf(list, chunk); cell += 2) {
      const slot = index.slotAt(cell);
      if (slot >= 0) entries.push({ slot, tick: index.tickAt(cell), filed: index.tickOf(slot) === index.tickAt(cell) });
    }
  }
  return { index: i, live: entries.length, capacity: chunks * ENTRIES_PER_CHUNK, entries };
}
