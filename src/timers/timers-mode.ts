import { InvalidConfigError } from '../errors.ts';
import { process } from '../process.ts';

/** Live timers from which a registered thread's new timers go to the wheel. */
const FROM = 16_384;

/**
 * Who serves timers, by the environment variable SHARDWHEEL_TIMERS. A program that runs unchanged makes no call that
 * could pass options.
 *
 *             registered                                    imported from shardwheel/timers
 *   (unset)   Node's, until many are live, as Node's        the wheel
 *   node      the same                                      the wheel, as Node's
 *   always    the wheel                                     the wheel
 *   off       Node's                                        Node's
 */
export type TimersMode = 'default' | 'node' | 'always' | 'off';

/** Throws InvalidConfigError. */
export const timersMode: TimersMode = modeNamed(process.env.SHARDWHEEL_TIMERS);

/** Live timers from which the wheel serves new ones, in a registered thread. Throws InvalidConfigError. */
export const takeOverFrom: number = countNamed(process.env.SHARDWHEEL_TIMERS_FROM);

function modeNamed(name: string | undefined): TimersMode {
  if (name === undefined || name === '') return 'default';
  if (name === 'node' || name === 'always' || name === 'off') return name;
  throw new InvalidConfigError('SHARDWHEEL_TIMERS', "must be 'node', 'always' or 'off', or not set", name);
}

function countNamed(text: string | undefined): number {
  if (text === undefined || text === '') return FROM;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidConfigError('SHARDWHEEL_TIMERS_FROM', 'must be a whole number, at least 1, or not set', text);
}
