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

/**
 * What becomes of a timer whose record a store cannot read. Its bytes are kept behind one that no payload begins with.
 * `due`: when it was, if that is known; `diedAt`: 0 for one that had died before.
 */
export function damagedTimer(name: string, key: string, bytes: Uint8Array, due: number, diedAt: number): DeadTimer {
  const payload = Buffer.concat([Buffer.of(0), bytes]);
  return { name, key, deadline: due, due, attempts: 0, payload, diedAt, reason: 'What was stored of it is damaged' };
}

/** How an attempt has ended, and what is to become of its timer. */
export type Ending =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly timer: StoredTimer }
  | { readonly kind: 'dead'; readonly timer: DeadTimer };

/** What ends an attempt from outside: its timer was cancelled, scheduled anew, or is another process's by now. */
export type Overtaken = 'cancelled' | 'superseded' | 'lost';

/** A timer that a process has taken, with one attempt more. */
export interface Claim {
  readonly attempt: StoredTimer;
  /** What has ended the attempt since, as far as that is known at once. Throws if the store cannot be read. */
  readonly over: () => Overtaken | undefined;
}

/** A timer that is due, in the hands of what keeps it: memory, a table, or a queue. */
export interface DueTimer {
  readonly name: string;
  readonly key: string;
  /** Takes the timer for this process. Undefined if it is not due any more, or another's. */
  claim(): Promise<Claim | undefined>;
  /**
   * Keeps what has become of the timer. False if that does not count: it was cancelled or scheduled anew meanwhile, or
   * taken away.
   */
  writeEnding(attempt: StoredTimer, ending: Ending): Promise<boolean>;
  /** `Attempts` has nothing more to do with it. */
  released?(): void;
}

/** When a timer with this deadline is due, ms since 1970: times before 1970 are as good as then. */
export const dueTime = (deadline: number): number => Math.max(0, deadline);

/** A text that no other name and key have. */
export const idOf = ({ name, key }: { readonly name: string; readonly key: string }): string => `${name}\0${key}`;
