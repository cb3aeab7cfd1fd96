import { InvalidDeadlineError } from '../../errors.ts';
import { epochTimeOf, type WallClockTime } from '../../time/wall-clock-time.ts';

/** The time of the wall that durable timers go by. */
export interface WallClock {
  /** Whether it stands still until it is advanced. */
  readonly isManual: boolean;
  /** ms since 1970. */
  now(): number;
  /** ms of real time after which it is worth to see whether a time has come. */
  until(time: number): number;
  /**
   * Calls the listener each time that a manual clock has been advanced, until the function that it returns is called.
   */
  follow(listener: () => void): () => void;
}

/** The machine's. `Date.now` is read at each use: a test may replace it. */
export const realWallClock: WallClock = {
  isManual: false,
  now: () => Date.now(),
  until: (time) => time - Date.now(),
  follow: () => () => undefined,
};

/** ms: a manual clock says itself when it is advanced. */
const DAY_MS = 86_400_000;

/** A clock that stands still until it is advanced: see `manualWallClock`. */
export class ManualWallClock {
  /** @internal */
  readonly isManual = true;
  #now: number;
  readonly #followers = new Set<() => void>();

  /** Use `manualWallClock`. `start` in ms since 1970. @internal */
  constructor(start: number) {
    this.#now = start;
  }

  /** ms since 1970. */
  now(): number {
    return this.#now;
  }

  /**
   * Sets the clock. The timers that are due by then are delivered, the oldest first; their handlers have not begun when
   * this returns.
   * @throws InvalidDeadlineError: it is no time, or lies before the clock's.
   */
  advanceTo(date: WallClockTime): void {
    const time = requireTime(date);
    if (time < this.#now) throw new InvalidDeadlineError(date, `must not lie before the clock's time, ${this.#now}`);
    this.#now = time;
    for (const listener of [...this.#followers]) listener();
  }

  /** @internal */
  until(time: number): number {
    return time <= this.#now ? 0 : DAY_MS;
  }

  /** @internal */
  follow(listener: () => void): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }
}

/**
 * A wall clock for tests: `openDurableTimers({ store, clock })`. It stands still until `advanceTo`, which durable
 * timers follow at once, in any store; several may have it. Throws InvalidDeadlineError.
 */
export const manualWallClock = (start: WallClockTime): ManualWallClock => new ManualWallClock(requireTime(start));

function requireTime(date: WallClockTime): number {
  const time = epochTimeOf(date);
  if (Math.abs(time) <= 8.64e15) return time;
  throw new InvalidDeadlineError(date, 'must be a valid Date, or ms since 1970');
}
