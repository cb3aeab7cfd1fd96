import type { TickIndex } from './tick-index.ts';
import type { IndexSnapshot } from './wheel-snapshot.ts';

/** Where an index keeps a slot's place, in the records of the slot's owner: words[slot << shift], 0 if it has none. */
export interface PlaceWords {
  readonly words: Int32Array;
  readonly shift: number;
}

export interface LevelStats {
  /** Slots or spokes of the level. */
  slots: number;
  /** Timers for which the level's slots hold memory. */
  capacity: number;
  timers: number;
  /** timers / capacity; 0 if the capacity is 0. */
  utilization: number;
}

/** What a wheel for one thread needs of its index beyond TickIndex. */
export interface WheelIndex extends TickIndex {
  /** Whether slots are handed over at their own due ticks, not at those of a level. */
  readonly keepsDueTicks: boolean;
  /** Whole ticks after `now` and below it may be passed to `insertDirect`. It never falls. */
  readonly directEnd: number;
  /** Files a slot with fewer questions. Preconditions: as for `insert`, and now < tick < directEnd. */
  insertDirect(slot: number, tick: number): void;
  /**
   * Makes sure that a filed slot can be filed anew at `tick` once it is removed. If memory is refused, throws and
   * changes nothing.
   */
  prepare(slot: number, tick: number): void;
  /** To be called before anything is filed, and whenever the words are others: places are kept there from now on. */
  usePlaces(places: PlaceWords): void;
  /** Ticks that each level covers. */
  levelRanges(): number[];
  inspect(): IndexSnapshot;
}

export function statsOf(index: IndexSnapshot): LevelStats[] {
  return index.levels.map(({ slots, lists }) => {
    const timers = lists.reduce((sum, list) => sum + list.live, 0);
    const capacity = lists.reduce((sum, list) => sum + list.capacity, 0);
    return { slots, capacity, timers, utilization: capacity === 0 ? 0 : timers / capacity };
  });
}
