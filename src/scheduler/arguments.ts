import { InvalidArgumentError, InvalidDeadlineError } from '../errors.ts';

// What the public calls are given is checked here, once. `x - x !== 0` is true of NaN and the infinities alone.

export function requireDeadline(deadline: unknown): void {
  if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
}

/**
 * What every timer is given, in one condition: the shorter the path of what is right, the more of it compilers fold into
 * their callers. That the deadline is finite is found where its tick is.
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

/** The length of something like an array. */
export function requireLength(argument: string, value: ArrayLike<number>): number {
  const length = (value as ArrayLike<number> | null | undefined)?.length;
  if (typeof value !== 'object' || !Number.isSafeInteger(length) || (length as number) < 0) {
    throw new InvalidArgumentError(argument, 'must be an array of numbers', value);
  }
  return length as number;
}

/** The array that the ids of `count` timers are written to; no more than `capacity` can be. */
export function requireIds(ids: Float64Array | undefined, count: number, capacity: number): Float64Array {
  if (ids === undefined) return new Float64Array(Math.min(count, capacity));
  if (!(ids instanceof Float64Array) || ids.length < count) {
    throw new InvalidArgumentError('ids', `must be a Float64Array of at least ${count} entries`, ids);
  }
  return ids;
}

/**
 * What an array holds, as far as `most` elements. Reading one that is no typed array may run code of the caller, which
 * must not come between two timers of one call; so all of it is read before the first.
 */
export function readAll(values: ArrayLike<number>, most: number): ArrayLike<number> {
  return ArrayBuffer.isView(values) ? values : Array.prototype.slice.call(values, 0, most);
}
