/** Told of every timer that has fired. */
export type OnFire = (timer: number) => void;

/**
 * The timers under test as a program sees them on the real clock. Timers are numbered 0 .. capacity - 1 by the workload;
 * the subject keeps for each what its timers are known by.
 */
export interface TimerSubject {
  /** Resolves when it is at full strength. */
  readonly ready: Promise<void>;
  /** Called once at the beginning of each slice of work. */
  slice(): void;
  /** Precondition: not live. `delay`: whole ms from now. */
  start(timer: number, delay: number): void;
  /** Whether it was live. */
  cancel(timer: number): boolean;
  /** Moves a live timer to `delay` ms from now; false where it was not live. `delay` is the one that it was started with. */
  move(timer: number, delay: number): boolean;
  /** Ends everything. Resolves with the number of timers that were still live. */
  close(): Promise<number>;
}
