import { addSlot, emptyLevel, type Occupancy } from '../occupancy.ts';
import type { LevelOccupancy } from '../tick-index.ts';
import { CHUNK_WORDS, ENTRIES_PER_CHUNK } from './chunk-lists.ts';
import type { LevelGeometry } from './level-geometry.ts';

/** What is read of a cascading index here. */
interface ReadLists {
  readonly now: number;
  readonly geometry: LevelGeometry;
  readonly occupancy: Occupancy;
  readonly chunkCounts: Int32Array;
  readonly cursors: Int32Array;
}

/** Counts entries by chunk, without a look at any: O(occupied slots), whatever they hold. */
export function levelEntries({ chunkCounts, cursors, geometry, now, occupancy }: ReadLists): LevelOccupancy[] {
  const levels: LevelOccupancy[] = [];
  for (let number = 0; number <= geometry.levels; number++) {
    const base = geometry.base[number];
    const end = base + geometry.mask[number] + 1;
    const level = emptyLevel(geometry.width[number], end - base, now);
    for (let list = occupancy.next(base, end); list >= 0; list = list + 1 < end ? occupancy.next(list + 1, end) : -1) {
      const inLast = (cursors[list] & (CHUNK_WORDS - 1)) >> 1;
      addSlot(level, list - base, (chunkCounts[list] - 1) * ENTRIES_PER_CHUNK + inLast);
    }
    levels.push(level);
  }
  return levels;
}
