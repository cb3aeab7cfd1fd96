import { isDate } from 'node:util/types';

/** A time of the wall clock: a Date, of any realm; ms since 1970; or what has these, such as a `Temporal.Instant`. */
export type WallClockTime = Date | number | { readonly epochMilliseconds: number };

// Taken once: a program may replace it.
const { getTime } = Date.prototype;

/** Returns ms since 1970; NaN for an invalid Date, and for what is no time of the wall clock. Never throws. */
export function epochTimeOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return Number.NaN;
  try {
    const time: unknown = isDate(value) ? getTime.call(value) : Reflect.get(value, 'epochMilliseconds');
    return typeof time === 'number' ? time : Number.NaN;
  } catch {
    return Number.NaN; // a getter, or a proxy, of the program
  }
}
