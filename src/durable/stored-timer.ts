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

/** When a timer with this deadline is due, ms since 1970: times before 1970 are as good as then. */
export const dueTime = (deadline: number): number => Math.max(0, deadline);
