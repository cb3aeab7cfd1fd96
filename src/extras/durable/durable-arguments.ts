import { isLongPast, requireDelay, warnOfLongPast } from '../../arguments.ts';
import { InvalidArgumentError, InvalidDeadlineError } from '../../errors.ts';
import { requireInteger, requireMilliseconds, requireOptions } from '../../known-options.ts';
import { MAX_NATIVE_DELAY_MS } from '../../time/native-timers.ts';
import { epochTimeOf } from '../../time/wall-clock-time.ts';
import type { CloseOptions, HandleOptions, ScheduleOptions } from './durable-timer.ts';
import type { Kept } from './kept.ts';

/** Most bytes of a key in UTF-8: LMDB's keys hold it with the name. */
const MAX_KEY_BYTES = 1024;
const MAX_NAME_BYTES = 128;
/** An hour, in ms. */
export const MAX_PERSIST_AFTER_MS = 3_600_000;

/** Most handlers that run at a time. */
export const MAX_CONCURRENCY = 10_000;

export const requireName = (name: unknown): void => requireText('name', name, MAX_NAME_BYTES);
export const requireKey = (key: unknown): void => requireText('key', key, MAX_KEY_BYTES);

export function requirePrefix(prefix: unknown): void {
  if (typeof prefix === 'string') return;
  throw new InvalidArgumentError('prefix', 'must be a string', prefix);
}

/** The prefix without the half of a character at its end: stores know whole ones. */
export const wholePrefix = (prefix: string): string => prefix.replace(/[\uD800-\uDBFF]$/, '');

/** Whether there can be a key that begins with the prefix. */
export function mayBeginKey(prefix: string): boolean {
  const whole = wholePrefix(prefix);
  return Buffer.byteLength(whole) <= MAX_KEY_BYTES && !NOT_TEXT.test(whole);
}

export function requirePath(path: unknown): void {
  if (typeof path === 'string' && path !== '') return;
  throw new InvalidArgumentError('path', 'must be the path of a folder', path);
}

export function requireHandler(handler: unknown, name: string, isHandled: boolean): void {
  if (typeof handler !== 'function') throw new InvalidArgumentError('handler', 'must be a function', handler);
  if (isHandled) throw new InvalidArgumentError('name', 'must be one that has no handler yet', name);
}

export function requireHandleOptions(options: HandleOptions = {}): HandleOptions {
  requireOptions(options, { concurrency: 0, timeout: 0 } satisfies Record<keyof HandleOptions, 0>);
  const { concurrency, timeout } = options;
  if (concurrency !== undefined) requireInteger('options.concurrency', concurrency, 1, MAX_CONCURRENCY);
  if (timeout !== undefined) requireMilliseconds('options.timeout', timeout, 1, MAX_NATIVE_DELAY_MS);
  return { concurrency, timeout };
}

/** Returns ms since 1970. `now`: as well. */
export function requireDeadlineTime(deadline: unknown, now: number): number {
  const time = epochTimeOf(deadline);
  if (!(Math.abs(time) <= 8.64e15)) throw new InvalidDeadlineError(deadline, 'must be a valid Date, or ms since 1970');
  if (isLongPast(time, now)) warnOfLongPast(deadline);
  return time;
}

/** Returns ms since 1970. */
export function requireDelayedTime(delay: unknown, now: number): number {
  requireDelay(delay);
  return requireDeadlineTime(now + Math.max(0, delay as number), now);
}

/** Returns ms. */
function requirePersistAfter(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MAX_PERSIST_AFTER_MS) return value;
  throw new InvalidArgumentError('persistAfter', `must be a number of ms from 0 to ${MAX_PERSIST_AFTER_MS}`, value);
}

/** Returns `persistAfter` in ms, undefined if it is not given; and what is kept of two timers. */
export function requireScheduleOptions(options: ScheduleOptions = {}): {
  persistAfter: number | undefined;
  kept: Kept;
} {
  requireOptions(options, { persistAfter: 0, ifAbsent: 0, keep: 0 } satisfies Record<keyof ScheduleOptions, 0>);
  const { persistAfter, ifAbsent, keep } = options;
  return {
    persistAfter: persistAfter === undefined ? undefined : requirePersistAfter(persistAfter),
    kept: requireKept(ifAbsent, keep),
  };
}

function requireKept(ifAbsent: unknown, keep: unknown): Kept {
  if (ifAbsent !== undefined && typeof ifAbsent !== 'boolean') {
    throw new InvalidArgumentError('ifAbsent', 'must be true or false', ifAbsent);
  }
  if (keep !== undefined && keep !== 'earlier' && keep !== 'later') {
    throw new InvalidArgumentError('keep', "must be 'earlier' or 'later'", keep);
  }
  if (ifAbsent && keep !== undefined) throw new InvalidArgumentError('keep', 'must not be given with ifAbsent', keep);
  return ifAbsent ? 'first' : keep;
}

/** Returns ms. */
export function requireWithin(options: CloseOptions = {}): number {
  requireOptions(options, { within: 0 } satisfies Record<keyof CloseOptions, 0>);
  const { within = Number.POSITIVE_INFINITY } = options;
  if (typeof within === 'number' && within >= 0) return within;
  throw new InvalidArgumentError('options.within', 'must be a number of ms', within);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const NOT_TEXT = /[\0-\x04\uD800-\uDFFF]/u;

/**
 * U+0000 separates the parts of a key in the stores, and lmdb orders long texts with U+0001 to U+0004 apart from short
 * ones; lone surrogates have no form in UTF-8, so several would be one key.
 */
function requireText(what: string, text: unknown, most: number): void {
  const isText = typeof text === 'string' && text !== '' && text.length <= most;
  if (isText && Buffer.byteLength(text) <= most && !NOT_TEXT.test(text)) return;
  const characters = 'without the characters U+0000 to U+0004 and lone surrogates';
  throw new InvalidArgumentError(what, `must be a string of 1 to ${most} bytes in UTF-8, ${characters}`, text);
}
