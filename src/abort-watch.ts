import { InvalidArgumentError } from './errors.ts';

/** The waiters of a signal, while there are any. */
interface Watch {
  readonly waiters: Set<() => void>;
  /** Stops listening. */
  end(): void;
}

/**
 * What ends the wait of each signal's waiters. All waiters of one signal share one listener, which is removed with the
 * last of them. Separate listeners would each be searched for among all others, and Node would warn of their number.
 */
const watches = new WeakMap<AbortSignal, Watch>();

/** Throws InvalidArgumentError for what cannot be watched. */
export function requireSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || isAbortSignal(signal)) return;
  throw new InvalidArgumentError('options.signal', 'must be an AbortSignal', signal);
}

/** Whether it can be asked and listened to as an AbortSignal: those of other realms, and of polyfills, can. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
    return typeof aborted === 'boolean' && [addEventListener, removeEventListener].every(isFunction);
  } catch {
    return false; // a getter, or a proxy, of the program
  }
}

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** The reason of a signal that has aborted; if it cannot be read, why not. Never throws. */
export function reasonOf(signal: AbortSignal | undefined): unknown {
  try {
    return signal?.reason;
  } catch (error) {
    return error; // its own getter has thrown
  }
}

/**
 * Calls the waiter once when the signal aborts; waiters run in the order of these calls. A waiter must not throw.
 * Precondition: it has not aborted. Throws what a signal of the program's own throws that refuses to be listened to:
 * then nothing is watched.
 */
export function watch(signal: AbortSignal, waiter: () => void): void {
  const found = watches.get(signal);
  if (found === undefined) beginWatch(signal, waiter);
  else found.waiters.add(waiter);
}

/** Removes a waiter, even while the others are called. Does nothing if it is not waiting. */
export function unwatch(signal: AbortSignal, waiter: () => void): void {
  const found = watches.get(signal);
  if (found?.waiters.delete(waiter) && found.waiters.size === 0) found.end();
}

function beginWatch(signal: AbortSignal, first: () => void): void {
  const waiters = new Set([first]);
  const aborted = (): void => {
    for (const waiter of waiters) {
      unwatch(signal, waiter);
      waiter();
    }
  };
  const end = (): void => {
    watches.delete(signal);
    try {
      signal.removeEventListener('abort', aborted);
    } catch {
      // A signal of the program's own: what it throws is not the business of whoever ends a timer.
    }
  };
  // first, since a signal of the program's own may end the wait when it is listened to
  watches.set(signal, { waiters, end });
  try {
    signal.addEventListener('abort', aborted, { once: true });
  } catch (error) {
    watches.delete(signal);
    throw error;
  }
  if (waiters.size === 0) end();
}
