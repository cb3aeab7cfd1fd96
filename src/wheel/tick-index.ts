/**
 * The core of a wheel: an index of slots (small integers, owned by its user) by tick.
 * It knows no time, no ids and no values. `TimingWheel` adds them for use in one thread; a shard uses a lane's
 * shared timer table instead. So there is one engine per kind of wheel, and neither user pays for the other.
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
  /** The bytes that can have been touched while only slots below `slots` were filed. */
  bytesFor(slots: number): number;
  /** First tick that `insert` refuses now; Infinity with an overflow list for ticks beyond the levels. */
  readonly upperBound: number;

  /**
   * Files a slot. A tick that is not after `now` becomes now + 1. Precondition: the slot is not filed, tick <
   * upperBound.
   */
  insert(slot: number, tick: number): void;
  /** Removes a slot; returns false if it was not filed. */
  remove(slot: number): boolean;
  has(slot: number): boolean;
  /**
   * The tick at which the slot is due (on a pinned index: its own, not rounded up to its level). Precondition: filed.
   */
  tickOf(slot: number): number;

  /**
   * Moves `now` to `tick` and hands every slot due by then to the sink: in order of due tick, within one in the order
   * filed. Each slot is removed before the sink sees it, so the sink may insert, remove and re-insert any slot; what it
   * files is due after the tick being handed over. If the sink throws, everything stays consistent: its slot is
   * removed, the rest is still due. After `budget` slots it stops with `now` at the present tick, and returns false;
   * the next call continues exactly there. Returns true when nothing due is left. With a tick that is not after `now`,
   * it hands over only such rests.
   */
  advanceTo(tick: number, sink: DueSink, budget: number): boolean;

  /** The earliest tick to which `now` can be advanced so that a slot is handed over; Infinity when empty. Exact. */
  nextTick(): number;
  /** A tick before which `advanceTo` has nothing to do, not even a cascade; at most nextTick(). Cheap. */
  nextEvent(): number;
  /**
   * A tick until which its user may sleep: nothing that is still wanted is due before. Unlike `nextEvent` it is exact
   * where a short look at the next entries says so. It removes those that have ended, and files anew those that are due
   * later: they cause no wake. Precondition: not within `advanceTo`.
   */
  nextWanted(owner: EntryOwner): number;
  /**
   * The earliest tick to which `now` can be advanced so that a slot is handed over that is wanted then; Infinity if
   * there is none. Exact: like `nextWanted`, but it looks through long lists too. Precondition: not within `advanceTo`.
   */
  nextDue(owner: EntryOwner): number;
  /** Slots moved to a lower level so far. */
  readonly cascaded: number;
  /** Slots removed so far since their owner said that they had ended. */
  readonly dropped: number;
  /** Slots filed anew so far since their owner said that they were due later. */
  readonly refiled: number;

  /**
   * How full each level is, the finest first. O(occupied wheel slots): it reads no entry, so it may be called at any
   * size.
   */
  levels(): LevelOccupancy[];
  /**
   * Visits every filed slot; those of one tick in the order filed. The visitor must not change the index. O(filed +
   * wheel slots): nothing is moved or sorted.
   */
  forEach(visit: (slot: number) => void): void;
  clear(): void;
}

export interface DueSink extends Partial<EntryOwner> {
  /** Called when a slot has come due; it is no longer filed. `tick` is the tick being handed over. */
  due(slot: number, tick: number): void;
  /**
   * Called for several slots in a row that may come due in a moment. A sink whose memory for slots is not in the cache
   * reads it here, without a result: these misses overlap, those of `due` do not.
   */
  prefetch?(slot: number): void;
}

/** Whoever has slots filed, and may have lost interest in some since. */
export interface EntryOwner {
  /** When a slot that is filed at `tick` is due by what is known now: `tick`, or later; below 0 if it has ended. */
  wantedAt(slot: number, tick: number): number;
}

/** How full a level of a wheel is. */
export interface LevelOccupancy {
  /** Ticks per slot. */
  readonly width: number;
  /** Number of slots; 1 for the list of ticks beyond the levels. */
  readonly slots: number;
  /** The slot that holds `now`. */
  hand: number;
  /** Slots that hold entries. */
  occupied: number;
  /**
   * Entries in these slots. On a cascading index they include removed ones until their slot is read or compacted, so
   * this is at least the number filed.
   */
  entries: number;
  /**
   * Entries by arc. All arcs of a level cover the same number of slots: one, or more if the level has over 256 slots.
   */
  readonly arcs: Int32Array;
}
