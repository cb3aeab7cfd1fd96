import type { TimerKind } from '../timer-kind.ts';

/** Called by a subject when a timer is due. `timer` is its caller's number, as it was passed to `arm`. */
export type OnFire = (kind: TimerKind, timer: number) => void;

/**
 * The timers under test, as a proxy sees them: in the replay, the soak and the bench. A handle names the place where
 * the proxy keeps what the subject gave it for a timer; arming puts a new timer into its place.
 */
export interface Subject {
  /** Resolves when the subject is at full strength; until then it may be slower, but not wrong. */
  readonly ready: Promise<void>;
  /** A slice of work begins: a subject may count the delays of the slice from here. */
  beginSlice(): void;
  /** `hint`: the connection's number. `delay`: ms from now. Precondition: the handle's timer has ended. */
  arm(kind: TimerKind, handle: number, hint: number, delay: number, timer: number): void;
  /**
   * Moves the deadline to `delay` ms from now; false where the timer is no longer live. `delay` is the one it was armed
   * with.
   */
  move(handle: number, delay: number): boolean;
  /** Whether the timer was live. */
  cancel(handle: number): boolean;
  /** The timer in that place has fired. */
  forget(handle: number): void;
  /** What the subject counted itself, for comparison. */
  stats(): Promise<unknown>;
  /** Ends everything and hands back each live timer once. `live` enumerates what the caller holds to be live. */
  close(handBack: (timer: number) => void, live: LiveTimers): Promise<void>;
}

export type LiveTimers = (visit: (handle: number, timer: number) => void) => void;
