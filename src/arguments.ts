import { isProxy } from 'node:util/types';
import { InvalidArgumentError, InvalidDeadlineError } from './errors.ts';
import { show } from './show.ts';
import { epochTimeOf } from './time/wall-clock-time.ts';
import { warnOnce } from './warn-once.ts';

// The checks of arguments of public calls, made once, here. `x - x !== 0` is true only of NaN and the infinities.

export function requireDeadline(deadline: unknown): void {
  if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
}

/**
 * Checks the arguments of every timer in one condition (V8: short paths). Whether the deadline is finite is checked
 * where its tick is computed.
 */
export function requireTimer(deadline: unknown, callback: unknown): void {
  if (typeof deadline === 'number' && (callback === undefined || typeof callback === 'function')) return;
  requireDeadline(deadline);
  requireCallback(callback);
}

export function requireDelay(delay: unknown): void {
  if (typeof delay !== 'number' || delay - delay !== 0) throw new InvalidDeadlineError(delay, undefined, 'delay');
}

export function requireCallback(callback: unknown): void {
  if (callback !== undefined && typeof callback !== 'function') {
    throw new InvalidArgumentError('callback', 'must be a function', callback);
  }
}

/** How many ms ahead a deadline must be to be checked: some three years. */
const FAR_AHEAD_MS = 1e11;
/** A deadline within this many ms of the wall clock's present counts as a time of the wall clock: some ten years. */
const PLAUSIBLE_MS = 3e11;

/**
 * Warns, once in a process, if a deadline seems to be a time of the wall clock and not of `now()`: it lies decades
 * ahead, and its timer would never fire. `now` in ms on the scheduler's clock.
 */
export function warnOfWallClock(deadline: number, now: number): void {
  if (deadline - now < FAR_AHEAD_MS || Math.abs(deadline - Date.now()) > PLAUSIBLE_MS) return;
  const years = Math.round((deadline - now) / (365.25 * 24 * 3_600_000));
  warnOnce(
    'SHARDWHEEL_WALL_CLOCK',
    () =>
      `A deadline of ${deadline} ms lies ${years} years ahead on the clock of scheduler.now(), and looks like one of Date.now(). ` +
      'scheduleAt(hint, date) takes a time of the wall clock, scheduleAfter(hint, delay) a delay',
  );
}

/**
 * Returns the ms until a time of the wall clock. That clock is read rounded down to the ms, so a timer with this delay
 * is not early. Throws InvalidDeadlineError.
 */
export function delayUntil(date: unknown): number {
  const time = epochTimeOf(date);
  if (time - time !== 0) throw new InvalidDeadlineError(date, 'must be a valid Date, or ms since 1970', 'date');
  const delay = time - Date.now();
  if (delay < -PLAUSIBLE_MS) warnOfLongPast(date);
  return delay;
}

/** Warns, once in a process, of a date that can hardly be meant: its timer is due at once. */
export function warnOfLongPast(date: unknown): void {
  warnOnce(
    'SHARDWHEEL_PAST_DATE',
    () =>
      `The date ${show(date)} lies more than ten years back, so its timer is due at once. ` +
      'A date is a Date, or ms since 1970: not seconds, and no delay',
  );
}

/** Whether a time of the wall clock lies further back than a program can mean, in ms since 1970. */
export const isLongPast = (time: number, now: number): boolean => time < now - PLAUSIBLE_MS;

/**
 * Warns, once in a process, if the argument of a repeating timer without options has only names of options: they were
 * meant to be the options. Nothing of it is read but the names, and no trap of a proxy runs.
 */
export function warnOfOptionsAsArgument(argument: unknown, options: object): void {
  if (typeof argument !== 'object' || argument === null || isProxy(argument)) return;
  // before an object with a million keys is read
  if (!Object.keys(options).some((name) => Object.hasOwn(argument, name))) return;
  if (!Object.keys(argument).every((name) => Object.hasOwn(options, name))) return;
  warnOnce(
    'SHARDWHEEL_OPTIONS_AS_ARGUMENT',
    () =>
      `scheduleEvery() was given ${show(argument)} as the argument of its callback, and no options. ` +
      'The options come after the argument: scheduleEvery(hint, period, callback, argument, options)',
  );
}
