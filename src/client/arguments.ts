import { InvalidArgumentError, InvalidDeadlineError } from '../errors.ts';

// The checks of arguments of public calls, made once, here. `x - x !== 0` is true only of NaN and the infinities.

export function requireDeadline(deadline: unknown): void {
  if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
}

/**
 * Checks the arguments of every timer in one condition (V8: short paths). Whether the deadline is finite is checked where its
 * tick is computed.
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
