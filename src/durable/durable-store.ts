import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RetryPolicy } from './retry-policy.ts';

/**
 * What keeps timers beyond the life of a process. `lmdbStore`, `bullmqStore` and `memoryStore` make one; test/durable/conformance
 * is the suite that each of them passes.
 *
 *     absent ──put──▶ scheduled ──due──▶ begun ──handler resolves──▶ absent
 *                        ▲ │ put, move      │
 *                        │ └─remove─▶ absent└─handler rejects, or its process dies
 *                        └──────── due again after a pause, attempts + 1 ◀──┤
 *                                                             dead ◀────────┘ after the last attempt
 *
 * A store promises:
 * - `put`, `move` and `remove` resolve once what they have done outlives this process, and the machine where the store can.
 * - `remove` resolves with true only if no handler of the timer runs or will run: none has begun, or it has rejected, or its process
 *   has died.
 * - A delivery begins at `due` or later, by the wall clock of the process that delivers.
 * - Deliveries of one timer begin one after the other, whichever processes share the store; a further one begins only where the
 *   one before rejected, or its process died or stood still.
 *
 * `put`, `move`, `remove` and `bury` settle when it is certain what they have done, however long that takes: a caller that waits no longer
 * than `bounded` allows must not repeat them before. The caller serialises `put`, `move` and `remove` of one key; all may come while a delivery of the key is under way. Then the delivery
 * goes on, and `put` schedules what comes after it.
 */
export interface DurableStore {
  readonly kind: 'lmdb' | 'bullmq' | 'memory';
  /** Opens the store. Nothing is delivered before `serve`. Rejects with DurableStoreError. */
  open(host: StoreHost): Promise<void>;
  /** Rejects with DurableStoreError if the work has not settled by the time that the store has for an answer. */
  bounded<T>(work: Promise<T>): Promise<T>;
  /** Begins to deliver the timers of a name. */
  serve(name: string): void;
  /** Stores a timer, or moves the one of the same name and key. Rejects with DurableStoreError: then it is stored or not. */
  put(timer: StoredTimer): Promise<void>;
  /** Moves a timer whose delivery has not begun; it keeps its payload. Resolves with whether it has. Rejects as `put`. */
  move(name: string, key: string, deadline: number): Promise<boolean>;
  /** Whether a timer of this name and key is stored. */
  has(name: string, key: string): boolean | Promise<boolean>;
  /** Removes a timer whose delivery has not begun. Resolves with whether it has. Rejects as `put`. */
  remove(name: string, key: string): Promise<boolean>;
  /** Resolves with a stored timer, also while it is being delivered. */
  get(name: string, key: string): Promise<StoredTimer | undefined>;
  /** Counts the timers of a name that are stored, those that are being delivered included; without a name, all. */
  count(name: string | undefined): Promise<number>;
  /** Yields stored timers whose keys begin with the prefix. One that is stored throughout is seen once. */
  timers(name: string, prefix: string): AsyncIterable<StoredTimer>;
  /** Yields the timers of a name that have died and are kept. */
  dead(name: string): AsyncIterable<DeadTimer>;
  /** Keeps a timer that is in no store as dead. */
  bury(dead: DeadTimer): Promise<void>;
  /** Forgets a dead timer. Resolves with whether there was one. */
  removeDead(name: string, key: string): Promise<boolean>;
  /** Resolves with counts of the store, for all processes together, but for `near` and `writes`. */
  stats(): Promise<StoreStats>;
  /** Ends when the deliveries that have begun have ended. */
  close(): Promise<void>;
}

/** A timer as stores keep it. */
export interface StoredTimer {
  readonly name: string;
  readonly key: string;
  /** The deadline that `schedule` was called with, ms since 1970. */
  readonly deadline: number;
  /** When it is to be delivered, ms since 1970: the deadline, or later after a failed attempt. */
  readonly due: number;
  /** Attempts that have begun. */
  readonly attempts: number;
  /** As `encodePayload` returned it. */
  readonly payload: Uint8Array | undefined;
}

/** A timer that has ended without success. */
export interface DeadTimer extends StoredTimer {
  /** ms since 1970. */
  readonly diedAt: number;
  /** The message of the last error. */
  readonly reason: string;
}

/** What a store gets from the process that opens it. */
export interface StoreHost {
  /** Sets the timers of the near tier. */
  readonly scheduler: Scheduler;
  /** ms ahead that the near tier covers. */
  readonly horizon: number;
  /** Most timers that the near tier holds. */
  readonly nearLimit: number;
  /** Most handlers that run at a time. */
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  /** Runs the handler. Resolves when it has; rejects with what it throws. `attempts` includes this one. */
  run(timer: StoredTimer): Promise<void>;
  /** A timer has died: it will not be tried again. */
  died(timer: DeadTimer): void;
  /** An operation of the store itself has failed, and is tried again. */
  failed(error: Error): void;
  /** Progress of a recovery that takes longer than two seconds, and its end. */
  recovering(progress: RecoveryProgress): void;
}

/** How far the timers that were overdue when the store was opened have been delivered. */
export interface RecoveryProgress {
  /** Timers that were overdue, as far as they are known: the number may still grow. */
  readonly overdue: number;
  readonly delivered: number;
  /** ms since the store was opened. */
  readonly elapsed: number;
  readonly isDone: boolean;
}

export interface StoreStats {
  readonly kind: DurableStore['kind'];
  /** Stored timers, those being delivered included. */
  readonly stored: number;
  /** Stored timers that are due and not being delivered. Counted up to 10,000. */
  readonly overdue: number;
  /** Deliveries under way, in all processes. */
  readonly active: number;
  /** Timers that have ended without success and are kept. */
  readonly dead: number;
  /** Timers in this process's near tier. */
  readonly near: number;
  /** Records that this process has written, moved or removed since it opened the store. */
  readonly writes: number;
}
