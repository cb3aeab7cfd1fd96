/**
 * What a wheel is underneath: an index of slots (small integers that somebody else owns) by tick.
 * It knows no time, no ids and no values. `TimingWheel` puts them on top for use in one thread; a shard puts a lane's
 * shared timer table there instead. So there is one engine per kind of wheel, and neither user pays for the other.
 *
 *   - Ticks are integers, 0 <= tick < 2^53. `now` never falls.
 *   - For every filed slot: now < tickOf(slot), except for those still due after an `advanceTo` that was cut short.
 *   - A slot is filed at most once.
 */
export interface TickIndex {
  /** The tick up to which everything has been handed over. */
  readonly now: number;
  /** Slots filed. */
  readonly size: number;
  /** Bytes held for entries, positions and levels. */
  readonly bytes: number;
  /** Those of them that can have been touched while only slots below `slots` were filed. */
  bytesFor(slots: number): number;
  /** First tick that `insert` refuses now; Infinity where an overflow list holds what lies beyond the levels. */
  readonly upperBound: number;

  /** Files a slot. A tick that is not after `now` becomes now + 1. Precondition: the slot is not filed, tick < upperBound. */
  insert(slot: number, tick: number): void;
  /** Takes a slot out; false where it was not filed. */
  remove(slot: number): boolean;
  has(slot: number): boolean;
  /** The tick at which the slot is due (on a pinned index: its own, not rounded up to its level). Precondition: filed. */
  tickOf(slot: number): number;

  /**
   * Moves `now` to `tick` and hands every slot due by then to the sink: in order of due tick, within one in the order
   * filed. Each is taken out before the sink sees it, so that the sink may insert, remove and re-insert any slot; what
   * it files is due after the tick being handed over. A sink that throws leaves everything consistent: its slot is out,
   * the rest still due.
   * After `budget` slots it stops, `now` standing at the tick that it was at, and returns false; the next call goes on
   * exactly there. Returns true when nothing due is left. A tick that is not after `now` hands over only such rests.
   */
  advanceTo(tick: number, sink: DueSink, budget: number): boolean;

  /** The least tick to which `now` can be advanced so that a slot is handed over; Infinity when empty. Exact. */
  nextTick(): number;
  /** A tick before which `advanceTo` has nothing at all to do, not even a cascade; at most nextTick(). Cheap, and what a shard parks until. */
  nextEvent(): number;
  /** Slots moved to a lower level so far. */
  readonly cascaded: number;

  /** How full each level is, the finest first. O(occupied wheel slots): no entry is looked at, so it may be asked at any size. */
  levels(): LevelOccupancy[];
  /** Visits every filed slot, in no particular order. The visitor must not change the index. */
  forEach(visit: (slot: number, tick: number) => void): void;
  clear(): void;
}

export interface DueSink {
  /** A slot has come due; it is no longer filed. `tick` is the tick being handed over. */
  due(slot: number, tick: number): void;
  /**
   * A slot may come due in a moment, several in a row. A sink whose memory for slots is not in the cache reads it here,
   * for no result: misses that follow each other at once overlap, those of `due` do not.
   */
  prefetch?(slot: number): void;
}

/** How full a level of a wheel is. */
export interface LevelOccupancy {
  /** Ticks per slot. */
  readonly width: number;
  /** Slots of the level; of a list for what lies beyond the levels, one. */
  readonly slots: number;
  /** The slot that holds `now`. */
  hand: number;
  /** Slots that hold entries. */
  occupied: number;
  /**
   * Entries in these slots. On a cascading index those that were taken out are among them until their slot is read or
   * compacted, so this is at least the number filed.
   */
  entries: number;
  /** Entries by arc, the same number of neighbouring slots to each: one slot, or more where a level has over 256. */
  readonly arcs: Int32Array;
}
