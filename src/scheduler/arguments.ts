import { isFloat64Array, isSharedArrayBuffer, isTypedArray } from 'node:util/types';
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

// Arrays may come from another realm, and be of classes of the caller's: they are told by what they are, and nothing is
// called on them. For their own methods ask the caller's classes what to return (`Symbol.species`).

const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Float64Array.prototype), 'length')?.get as (
  this: NodeJS.TypedArray,
) => number;

/** The length of something like an array. */
export function requireLength(argument: string, value: ArrayLike<number>): number {
  if (isTypedArray(value)) return lengthOf.call(value);
  const length = (value as ArrayLike<number> | null | undefined)?.length;
  if (typeof value !== 'object' || !Number.isSafeInteger(length) || (length as number) < 0) {
    throw new InvalidArgumentError(argument, 'must be an array of numbers', value);
  }
  return length as number;
}

/** Where ids are to be written; undefined where an array is to be made. Throws InvalidArgumentError. */
export function requireIds(ids: unknown, count: number): Float64Array | undefined {
  if (ids === undefined) return undefined;
  if (!isFloat64Array(ids) || lengthOf.call(ids) < count) {
    throw new InvalidArgumentError('ids', `must be a Float64Array of at least ${count} entries`, ids);
  }
  return ids;
}

/**
 * What an array holds, as far as `most` elements. Reading one that is no typed array may run code of the caller, which
 * must not come between two timers of one call; so all of it is read before the first.
 */
export function readAll(values: ArrayLike<number>, most: number): ArrayLike<number> {
  if (isTypedArray(values)) return values as ArrayLike<number>;
  const count = Math.min(values.length, most);
  const read: number[] = [];
  for (let i = 0; i < count; i++) read.push(values[i]);
  return read;
}

/** Whether nobody else can change what is written to the array, and writing to it changes none of the inputs. */
export function isApart(ids: Float64Array, ...inputs: ArrayLike<number>[]): boolean {
  const { buffer } = ids;
  return !isSharedArrayBuffer(buffer) && inputs.every((input) => !isTypedArray(input) || input.buffer !== buffer);
}
