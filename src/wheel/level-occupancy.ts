import type { LevelOccupancy } from './tick-index.ts';

/** Bounds the size of a level's report, whatever the level's size. */
const MAX_ARCS = 256;

/** An empty level. Precondition: slots are a power of two. */
export const emptyLevel = (width: number, slots: number, now: number): LevelOccupancy => ({
  width,
  slots,
  hand: Math.floor(now / width) % slots,
  occupied: 0,
  entries: 0,
  arcs: new Int32Array(Math.min(slots, MAX_ARCS)),
});

/** Notes the entries of one occupied slot. */
export function addSlot(level: LevelOccupancy, slot: number, entries: number): void {
  level.occupied += 1;
  level.entries += entries;
  level.arcs[Math.floor((slot * level.arcs.length) / level.slots)] += entries;
}

type Count = (slot: number) => number;

/** Reads a level slot by slot. */
export function countLevel(width: number, slots: number, now: number, entriesOf: Count): LevelOccupancy {
  const level = emptyLevel(width, slots, now);
  for (let slot = 0; slot < slots; slot++) {
    const entries = entriesOf(slot);
    if (entries > 0) addSlot(level, slot, entries);
  }
  return level;
}
