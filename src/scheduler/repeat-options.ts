import { MISSED_CALLS, type MissedCalls, type Repetition } from '../client/call-grids.ts';
import { InvalidArgumentError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';

export interface RepeatOptions {
  /** ms until the first call, at least 0. Default: the period. */
  first?: number;
  /**
   * What becomes of calls that could not be made in time, judged when a call ends. 'skip' makes one, or none if it was
   * the timer's own callback that ran so long, and goes on with the grid, at its first point that is at least half a
   * period away; 'burst' makes each, one per tick; 'delay' counts the period from the beginning of the last call.
   * Default 'skip'.
   */
  missedCalls?: MissedCalls;
  /**
   * With false, a call that falls due while the promise that the last one returned is pending is not made; `stats()`
   * counts it as `overlapped`. A promise that rejects ends the wait, and Node reports it as unhandled, also if others
   * handle it: so the callback returns one that has caught its errors. Default true.
   */
  overlap?: boolean;
}

/** The names of the options. */
export const REPEAT_OPTIONS = { first: 0, missedCalls: 0, overlap: 0 } satisfies Record<keyof RepeatOptions, 0>;

/** `tick`: ms, the shortest period. Throws InvalidArgumentError. */
export function requirePeriod(period: unknown, tick: number): void {
  if (!isTime(period, tick)) {
    throw new InvalidArgumentError('period', `must be a finite number of ms, at least a tick of ${tick}`, period);
  }
}

/**
 * What is checked here is what is used: a getter may answer differently. Throws InvalidArgumentError;
 * InvalidConfigError for an unknown option. `period`: ms
 */
export function resolveRepeatOptions(period: number, options: RepeatOptions | undefined): Repetition {
  if (options === undefined) return { first: period, period, missedCalls: 'skip', overlap: true };
  requireOptions(options, REPEAT_OPTIONS);
  const { first = period, missedCalls = 'skip', overlap = true } = options;
  if (!isTime(first, 0)) {
    throw new InvalidArgumentError('options.first', 'must be a finite number of ms, at least 0', first);
  }
  if (!MISSED_CALLS.includes(missedCalls)) {
    throw new InvalidArgumentError('options.missedCalls', "must be 'skip', 'burst' or 'delay'", missedCalls);
  }
  if (typeof overlap !== 'boolean') {
    throw new InvalidArgumentError('options.overlap', 'must be true or false', overlap);
  }
  return { first, period, missedCalls, overlap };
}

const isTime = (value: unknown, least: number): boolean =>
  typeof value === 'number' && value >= least && value < Number.POSITIVE_INFINITY;
