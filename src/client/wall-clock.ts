import process from 'node:process';
import { InvalidDeadlineError } from '../errors.ts';

/** ms that a deadline has to lie ahead to be looked at: some three years. */
const FAR = 1e11;
/** ms from the present of the wall clock that a deadline may be to be taken for one of its: some ten years. */
const NEAR_PRESENT = 3e11;

let hasWarned = false;

/**
 * Warns, once in a process, of a deadline that is on the wall clock, where `now()`'s was meant: it lies decades ahead, and its timer
 * never fires. `now`: ms on the scheduler's clock.
 */
export function warnOfWallClock(deadline: number, now: number): void {
  if (deadline - now < FAR || hasWarned || Math.abs(deadline - Date.now()) > NEAR_PRESENT) return;
  hasWarned = true;
  const years = Math.round((deadline - now) / (365.25 * 24 * 3_600_000));
  process.emitWarning(
    `A deadline of ${deadline} ms lies ${years} years ahead on the clock of scheduler.now(), and looks like one of Date.now(). ` +
      'scheduleAt(hint, date) takes a time of the wall clock, scheduleAfter(hint, delay) a delay',
    { code: 'SHARDWHEEL_WALL_CLOCK' },
  );
}

/**
 * ms until a time of the wall clock, which is read to the ms below: so a timer after that delay is not early by it. Throws
 * InvalidDeadlineError.
 */
export function delayUntil(date: Date | number): number {
  const time = date instanceof Date ? date.getTime() : date;
  if (typeof time === 'number' && time - time === 0) return time - Date.now();
  throw new InvalidDeadlineError(date, 'must be a valid Date, or ms since 1970', 'date');
}
