import { setTimeout } from '../time/native-timers.ts';

/** How many deaths of its thread, within how many ms, have a shard go on inline. */
export interface DeathLimit {
  readonly deaths: number;
  readonly within: number;
}

/** ms */
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 1000;

/**
 * When the next thread of a shard may start: at once after the first death for a while, then after longer and longer
 * pauses, and never again after as many deaths within a time as the limit names.
 */
export class RestartPolicy {
  private readonly limit: DeathLimit;
  private deaths: number[] = [];

  constructor(limit: DeathLimit) {
    this.limit = limit;
  }

  /** Takes note of a death at `now`, ms; returns the ms to wait before the next start, Infinity where there is to be none. */
  pauseAfterDeath(now: number): number {
    this.deaths = this.deaths.filter((death) => now - death < this.limit.within);
    const recent = this.deaths.push(now);
    if (recent >= this.limit.deaths) return Number.POSITIVE_INFINITY;
    return recent === 1 ? 0 : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (recent - 2));
  }
}

/** Resolves when a pause is over; at once where Node refuses the timer for it. Does not hold the process. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    try {
      setTimeout(resolve, milliseconds).unref();
    } catch {
      resolve(); // without the timer no pause
    }
  });
