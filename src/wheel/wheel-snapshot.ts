import type { TimerId } from '../timer-id.ts';

/** A wheel's whole state, copied out for `checkInvariants`, debuggers and tests. */
export interface WheelSnapshot {
  start: number;
  precision: number;
  now: number;
  size: number;
  upperBound: number;
  nextExpiration: number | undefined;
  timers: { slot: number; id: TimerId; deadline: number }[];
  /** Slots given out and not live: free or retired. */
  idle: number;
  index: IndexSnapshot;
}

export interface IndexSnapshot {
  engine: 'cascading' | 'pinned';
  now: number;
  size: number;
  nextTick: number;
  nextEvent: number;
  levels: LevelSnapshot[];
}

export interface LevelSnapshot {
  /** Ticks per slot. */
  width: number;
  /** Slots of the level; the overflow level has one. */
  slots: number;
  /** Bit by bit what the occupancy says. */
  occupied: number[];
  /** How many slots the level believes to be occupied. */
  occupiedCount: number;
  /** Slots that hold memory, in ascending order. */
  lists: ListSnapshot[];
}

export interface ListSnapshot {
  index: number;
  /** Live entries as counted by the list. */
  live: number;
  /** Room for entries, in use or not. */
  capacity: number;
  /** Live entries in the order of handing over. `filed`: where the slot's own record says that it stands. */
  entries: { slot: number; tick: number; filed: boolean }[];
}
