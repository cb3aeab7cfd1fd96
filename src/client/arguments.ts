import { InvalidArgumentError, InvalidDeadlineError } from '../errors.ts';

// What the public calls are given is checked here, once. `x - x !== 0` is true of NaN and the infinities alone.

export function requireDeadline(deadline: unknown): void {
  if (typeof deadline !== 'number' || deadline - deadline !== 0) throw new InvalidDeadlineError(deadline);
}

/**
 * What every timer is given, in one condition (V8: short paths). That the deadline is finite is found where its tick is.
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
