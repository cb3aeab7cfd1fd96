import { setImmediate } from '../../../time/native-timers.ts';
import type { DeadTimer, StoredTimer } from '../stored-timer.ts';
import { threadMark } from '../thread-mark.ts';

/**
 * Records of timers in the order of their keys, with an index by due time and one of those that are being delivered:
 * what TableStore needs of an engine. Several processes may have the same table open.
 *
 *     records   (name, key)                    → timer, version, owner
 *     due       (name, due, key)               a record without an owner has one entry here
 *     active    (name, owner, key)             a record with an owner has one here
 *     dead      (name, key)                    → timer, when and why
 *
 * Every change of a record is a `replace`: it happens, with its index entries, if the record is still the one that was
 * read, and else not at all. That is the whole of the agreement between processes. Reads are synchronous and may be out
 * of date; `refresh` makes the next ones see all that has been committed.
 */
export interface RecordTable {
  read(name: string, key: string): TimerRecord | undefined;
  /**
   * Replaces `before` by `after`; undefined stands for no record. Resolves when that is as safe as this engine makes
   * it; with false, and nothing is changed, if the table's record is another. `dead` is stored with it.
   */
  replace(before: TimerRecord | undefined, after: TimerRecord | undefined, dead?: DeadTimer): Promise<boolean>;
  refresh(): void;
  /** Index entries after `from` and up to `until`, exclusive, in order. */
  due(name: string, from: DuePlace, until: number, limit: number): DuePlace[];
  /** The keys of the timers that are being delivered, by whom. */
  active(name: string, limit: number): { readonly owner: string; readonly key: string }[];
  /** Records of the name whose keys are greater than `after`, or at least `prefix` if that is undefined, in order. */
  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[];
  dead(name: string, after: string | undefined, limit: number): DeadTimer[];
  bury(dead: DeadTimer): Promise<void>;
  removeDead(name: string, key: string): Promise<boolean>;
  /** All names with records; others that have had some may be among them. */
  names(): string[];
  sizes(): { readonly records: number; readonly active: number; readonly dead: number };
  /** Records that this process has written or removed. */
  readonly writes: number;
  readonly members: Members;
  /** As that of a store. */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** A timer, with what is needed to replace it. */
export interface TimerRecord extends StoredTimer {
  /** Distinguishes this state of the record from all others of the same key. */
  readonly version: number;
  /** The process that runs an attempt. */
  readonly owner: string | undefined;
  /**
   * What the record's timer is: without an owner 'scheduled'; else what that runs, what comes after it, or what was
   * cancelled. 'damaged': the engine has it, and it cannot be read. Then its bytes are the payload, and only its name,
   * key and version are known.
   */
  readonly state: 'scheduled' | 'running' | 'superseded' | 'cancelled' | 'damaged';
}

/** A place in the index by due time: after the entries that are due before it, and after that key. */
export interface DuePlace {
  readonly due: number;
  readonly key: string;
}

/** The processes that have the table open, and who of them delivers the timers of a name. */
export interface Members {
  /** This process's identity: another each time that the table is opened. */
  readonly self: string;
  /** Whether others have the table open. */
  readonly hasOthers: boolean;
  /** Shows the others that this process is alive, and looks which of them are. */
  beat(): void;
  /**
   * Before an attempt begins: undefined, or a promise if this process has stood still for so long that the others may
   * take it for dead; it resolves when they know better.
   */
  renewed(): Promise<void> | undefined;
  isAlive(member: string): boolean;
  leaderOf(name: string): string | undefined;
  /** Makes this process the leader in place of `before`. Resolves with false if the leader is another by now. */
  lead(name: string, before: string | undefined): Promise<boolean>;
  /** Gives up whatever this process leads. It stays a member until the table is closed. */
  resign(): Promise<void>;
}

/**
 * A version that no other state of a record has had: drawn from 2^52, and moved on by what is this thread's own, so
 * that threads that draw the same have others.
 */
export const newVersion = (): number => (Math.floor(Math.random() * 2 ** 52) + threadMark().number) % 2 ** 52;

/** Reads page after page, each by the last entry of the one before, with a pass of the event loop after each. */
export async function* pages<T>(size: number, read: (last: T | undefined) => T[]): AsyncGenerator<T[], void> {
  for (let last: T | undefined; ; ) {
    const page = read(last);
    yield page;
    if (page.length < size) return;
    last = page[size - 1];
    await new Promise((resolve) => setImmediate(resolve));
  }
}
