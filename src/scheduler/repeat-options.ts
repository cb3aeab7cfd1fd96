import { MISSED_CALLS, type MissedCalls } from '../client/call-grids.ts';
import { InvalidArgumentError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';

export interface RepeatOptions {
  /** ms until the first call, at least 0. Default: the period. */
  first?: number;
  /**
   * What becomes of calls that could not be made in time, judged when a call ends. 'skip' makes one and goes on with the grid,
   * 'burst' makes each, one per tick, 'delay' counts the period from the beginning of the last call. Default 'skip'.
   */
  missedCalls?: MissedCalls;
}

/** The names of the options. */
export const REPEAT_OPTIONS = { first: 0, missedCalls: 0 } satisfies Record<keyof RepeatOptions, 0>;

/** `tick`: ms, the shortest period. Throws InvalidArgumentError. */
export function requirePeriod(period: unknown, tick: number): void {
  if (!isTime(period, tick)) {
    throw new InvalidArgumentError('period', `must be a finite number of ms, at least a tick of ${tick}`, period);
  }
}

/** Throws InvalidArgumentError; InvalidConfigError for an unknown option. */
export function requireRepeatOptions(options: RepeatOptions): void {
  requireOptions(options, REPEAT_OPTIONS);
  const { first = 0, missedCalls = 'skip' } = options;
  if (!isTime(first, 0)) {
    throw new InvalidArgumentError('options.first', 'must be a finite number of ms, at least 0', first);
  }
  if (!MISSED_CALLS.includes(missedCalls)) {
    throw new InvalidArgumentError('options.missedCalls', "must be 'skip', 'burst' or 'delay'", missedCalls);
  }
}

const isTime = (value: unknown, least: number): boolean =>
  typeof value === 'number' && value >= least && value < Number.POSITIVE_INFINITY;
