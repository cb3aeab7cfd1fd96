import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { setTimeout } from '../time/native-timers.ts';
import type { ThreadOptions } from './thread-options.ts';

/** A successor has replaced a shard that died. */
export interface ShardRestart {
  shard: number;
  /** What ended the last one: the error that was thrown, or one with the exit code. */
  cause: Error;
  /** Number of live timers that were indexed again. */
  rescheduled: number;
  /** Deaths since the shard was last served, including threads that died before they were up, and failures inline. */
  deaths: number;
}

/** The clock of pauses and watches. */
export const monotonic = new MonotonicClock(clockOrigin());

/** For what is tried again for ever. */
export const ENDLESS: Required<ThreadOptions>['inlineAfter'] = { deaths: Number.POSITIVE_INFINITY, within: 10_000 };

/** ms */
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1000;

/**
 * Decides when the next thread of a shard may start: at once after the first death for a while, then after longer and
 * longer pauses, and never again when the limit of deaths is reached.
 */
export class RestartPolicy {
  private readonly limit: Required<ThreadOptions>['inlineAfter'];
  private deaths: number[] = [];

  constructor(limit: Required<ThreadOptions>['inlineAfter']) {
    this.limit = limit;
  }

  /**
   * Notes a death at `now`, in ms of any clock. Returns the ms to wait before the next start; Infinity for no further
   * start.
   */
  pauseAfterDeath(now = monotonic.now()): number {
    this.deaths = this.deaths.filter((death) => now - death < this.limit.within);
    const recent = this.deaths.push(now);
    if (recent >= this.limit.deaths) return Number.POSITIVE_INFINITY;
    return recent === 1 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (recent - 2));
  }
}

/** Resolves after a pause. Does not hold the process. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
