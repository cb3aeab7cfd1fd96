import { shownPayload } from './payload-codec.ts';
import type { DeadTimer, StoredTimer } from './stored-timer.ts';

/** A timer, as `get` and the iterations show it. Times in ms since 1970. */
export interface DurableTimer<Payload = unknown> {
  name: string;
  key: string;
  deadline: number;
  /**
   * A PayloadError, whatever its type, if this process cannot read it: `schedule` refuses that, so it takes no
   * payload's place.
   */
  payload: Payload;
  /** Attempts to deliver it that have begun. */
  attempts: number;
}

/** A timer that is no longer tried. Times in ms since 1970. */
export interface DeadLetter<Payload = unknown> extends DurableTimer<Payload> {
  diedAt: number;
  /** The message of the last error. */
  reason: string;
}

/** What a handler gets besides the payload. */
export interface DeliveryInfo {
  readonly name: string;
  readonly key: string;
  /** ms since 1970. */
  readonly deadline: number;
  /** 1 for the first. */
  readonly attempt: number;
  /**
   * Aborts with an AttemptEndedError when the attempt has timed out, when its timer is cancelled or scheduled anew (by
   * another process: when that is noticed), when another process may have taken it, and when `close({ within })` waits
   * no longer.
   */
  readonly signal: AbortSignal;
}

/** A handler that resolves has ended the timer; one that rejects is called again after a pause. */
export type DurableHandler<Payload> = (payload: Payload, delivery: DeliveryInfo) => unknown;

/** The names whose payload may be undefined, so that it need not be given. */
export type NamesWithoutPayload<Payloads extends object> = {
  [Name in keyof Payloads & string]: undefined extends Payloads[Name] ? Name : never;
}[keyof Payloads & string];

export interface HandleOptions {
  /** Most handlers of the name that run at a time, from 1 to 10,000. Default: that of the durable timers. */
  concurrency?: number | undefined;
  /**
   * ms after which an attempt has failed, from 1 to 2,147,483,647: its signal aborts, and it is waited for no longer. A
   * handler that goes on all the same may overlap with the next attempt. Default: none.
   */
  timeout?: number | undefined;
}

export interface ScheduleOptions {
  /**
   * As for `openDurableTimers`, in ms, for this timer. 0 stores it before the call resolves. Default: that of the
   * durable timers.
   */
  persistAfter?: number | undefined;
  /**
   * Schedules the timer only if none is scheduled for the key; an attempt that runs is none. The store decides, and has
   * the timer before the call resolves, whatever `persistAfter` is; unless the one that is there is in memory alone.
   * Not with `keep`. Default false.
   */
  ifAbsent?: boolean | undefined;
  /**
   * If a timer is scheduled for the key, keeps the one with the earlier, or the later, deadline: with its payload; at
   * equal deadlines the one that is there. As with `ifAbsent` the store decides. Default: the one that comes is kept.
   */
  keep?: 'earlier' | 'later' | undefined;
}

export interface CloseOptions {
  /** ms for which handlers that run are waited for, from 0. Default: as long as they run. */
  within?: number | undefined;
}

/** An attempt that has failed. Times in ms since 1970. */
export interface FailedAttempt {
  readonly name: string;
  readonly key: string;
  readonly attempt: number;
  /**
   * What the handler has rejected with; an AttemptEndedError at its timeout; a PayloadError if the payload cannot be
   * read.
   */
  readonly error: unknown;
  /** When the next attempt is due; undefined after the last. */
  readonly retryAt: number | undefined;
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

export interface DurableTimersEvents {
  /** The store, or a listener, has failed. What the store could not do is tried again. */
  error: [error: Error];
  /** An attempt has failed, and that is kept: the timer is tried again, or has died. */
  failed: [attempt: FailedAttempt];
  /** A timer has died: its last attempt has failed. */
  dead: [letter: DeadLetter];
  /** Every two seconds while timers that were overdue at the start are delivered, and when they have been. */
  recovery: [progress: RecoveryProgress];
}

export function shownTimer<Payload>({ name, key, deadline, payload, attempts }: StoredTimer): DurableTimer<Payload> {
  return { name, key, deadline, payload: shownPayload(payload) as Payload, attempts };
}

export function shownDead<Payload>(timer: DeadTimer): DeadLetter<Payload> {
  return { ...shownTimer<Payload>(timer), diedAt: timer.diedAt, reason: timer.reason };
}
