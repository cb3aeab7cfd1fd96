import type { Attempts } from './attempts/attempts.ts';
import type { DurableCore } from './attempts/durable-core.ts';
import type { StoreStats } from './durable-stats.ts';
import type { Kept } from './kept.ts';
import type { DeadTimer, StoredTimer } from './stored-timer.ts';

/**
 * What keeps timers beyond the life of a process. `lmdbStore`, `bullmqStore` and `memoryStore` make one;
 * test/durable/conformance is the suite that each of them passes. table/rows.ts draws the states of a timer.
 *
 * A store promises:
 * - `put`, `move`, `remove` and `bury` resolve once what they have done outlives this process, and the machine where
 *   the store can. They settle when it is certain what they have done, however long that takes; a caller waits by
 *   `bounded`.
 * - Attempts of one key never overlap, in whichever processes. A claim counts the attempt before the handler begins, at
 *   `due` or later.
 * - While an attempt runs, `remove` ends the timer, and `put` makes the next one: then what becomes of the attempt does
 *   not count. `move`, `get`, `count` and `timers` concern what is scheduled, not what runs.
 *
 * The caller serialises `put`, `move` and `remove` of one key.
 */
export interface DurableStore {
  readonly kind: StoreStats['kind'];
  /**
   * Opens the store. Nothing is delivered before `serve`; then `attempts` gets what is due. Rejects with
   * DurableStoreError.
   */
  open(core: DurableCore, attempts: Attempts): Promise<void>;
  /**
   * Rejects with DurableStoreError if neither the work nor any other has settled in the time that the store has for an
   * answer.
   */
  bounded<T>(work: Promise<T>): Promise<T>;
  /** Begins to deliver the timers of a name. */
  deliver(name: string): void;
  /**
   * Stores a timer in place of what is scheduled for its name and key; if anything is, only where `replaces` says so of
   * the two, which is decided and done as one step, whatever other processes do. Resolves with whether it has. Rejects
   * with DurableStoreError: then it is stored or not.
   */
  put(timer: StoredTimer, kept?: Kept): Promise<boolean>;
  /**
   * Moves what is scheduled; it keeps its payload, and has all attempts again. Resolves with whether it has. Rejects as
   * `put`.
   */
  move(name: string, key: string, deadline: number): Promise<boolean>;
  /** Whether the store knows this name and key: a timer, or an attempt. */
  has(name: string, key: string): boolean | Promise<boolean>;
  /** Removes a timer. Resolves with whether there was one that was not removed yet. Rejects as `put`. */
  remove(name: string, key: string): Promise<boolean>;
  /** Resolves with what is scheduled. */
  get(name: string, key: string): Promise<StoredTimer | undefined>;
  /** Counts what is scheduled, of all names. */
  count(): Promise<number>;
  /** Yields what is scheduled with keys that begin with the prefix. What is there throughout is seen once. */
  timers(name: string, prefix: string): AsyncIterable<StoredTimer>;
  /** Yields the timers of a name that have died and are kept: of each key the last. Any may be removed meanwhile. */
  dead(name: string): AsyncIterable<DeadTimer>;
  /** Keeps a timer that is in no store as dead. */
  bury(dead: DeadTimer): Promise<void>;
  /** Forgets a dead timer. Resolves with whether there was one. */
  removeDead(name: string, key: string): Promise<boolean>;
  /** Resolves with counts of the store, for all processes together, but for `near` and `writes`. */
  stats(): Promise<StoreStats>;
  /**
   * Copies what is stored, as it is at one moment, into a folder that is empty or not there. Rejects with
   * DurableStoreError.
   */
  backup(path: string): Promise<void>;
  /**
   * Resolves with names of which a timer was due before a time, ms since 1970, and has not begun: some that there are,
   * if any.
   */
  overdueNames(before: number): Promise<string[]>;
  /**
   * Hands no further timer to `attempts`, and leaves them to other processes. Rejects with DurableStoreError in time.
   */
  stop(): Promise<void>;
  /**
   * After `stop`, when no attempt is under way. Rejects with DurableStoreError in time: what it holds of its own is
   * released.
   */
  close(): Promise<void>;
}
