import { process } from '../process.ts';
import { clock } from './call-times.ts';
import type { NodeTimeout } from './node-lists.ts';

const TRIES = 5;

const monotonic = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
};

/**
 * Returns what to add to a timer's `_idleStart`, in whole ms of Node's own clock, for the beginning of that ms by `clock`. Both
 * read the machine's monotonic clock; Node drops fractions of a ms. `stamp` returns a timer with the clock's present ms.
 */
export function nodeClockOffset(stamp: () => NodeTimeout): number {
  let behind = Number.POSITIVE_INFINITY;
  let difference = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES; tried++) {
    behind = Math.min(behind, Math.floor(monotonic()) - stamp()._idleStart);
    const read = clock();
    difference = Math.min(difference, monotonic() - read);
  }
  return behind - difference;
}
