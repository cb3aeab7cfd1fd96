import { InvalidConfigError } from '../../../errors.ts';
import { requireInteger, requireMilliseconds, requireOptions } from '../../../known-options.ts';

export interface RetryOptions {
  /** Attempts in all, from 1 to 1,000. After the last that fails the timer is dead. Default 10. */
  attempts?: number | undefined;
  /** ms from the first failure to the second attempt; each further pause is twice as long. Default 1000. */
  delay?: number | undefined;
  /** Longest pause in ms. Default 3,600,000: an hour. */
  maxDelay?: number | undefined;
}

/** When a failed delivery is tried again: exponential backoff, with each pause drawn from its upper half. */
export type RetryPolicy = Readonly<Required<RetryOptions>>;

/** Throws InvalidArgumentError, InvalidConfigError. */
export function resolveRetry(options: RetryOptions = {}): RetryPolicy {
  const known = { attempts: 0, delay: 0, maxDelay: 0 } satisfies Record<keyof RetryOptions, 0>;
  requireOptions(options, known, 'options.retry');
  const { attempts = 10, delay = 1000, maxDelay = 3_600_000 } = options;
  requireInteger('options.retry.attempts', attempts, 1, 1000);
  requireMilliseconds('options.retry.delay', delay, 1, 86_400_000);
  if (typeof maxDelay !== 'number' || !(maxDelay >= delay && maxDelay <= 31_536_000_000)) {
    const requirement = `must be a number of ms from options.retry.delay, which is ${delay}, to 31536000000`;
    throw new InvalidConfigError('options.retry.maxDelay', requirement, maxDelay);
  }
  return { attempts, delay, maxDelay };
}

/**
 * The pause in ms after the `attempts`-th attempt. Drawn at random, so that timers that failed together do not return
 * together.
 */
export function pauseAfter(attempts: number, { delay, maxDelay }: RetryPolicy): number {
  const full = Math.min(maxDelay, delay * 2 ** (attempts - 1));
  return Math.ceil(full * (0.5 + Math.random() / 2));
}
