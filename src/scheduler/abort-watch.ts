import { InvalidArgumentError } from '../errors.ts';

/** The waiters of a signal, while there are any. */
interface Watch {
  readonly waiters: Set<() => void>;
  /** Stops listening. */
  end(): void;
}

/**
 * What ends the wait of each signal's waiters. All waiters of one signal share one listener, which is removed with the last of them.
 * Separate listeners would each be searched for among all others, and Node would warn of their number.
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
    const { aborted, addEventListener } = value as Partial<AbortSignal>;
    return typeof aborted === 'boolean' && typeof addEventListener === 'function';
  } catch {
    return false; // a getter, or a proxy, of the program
  }
}

/**
 * Calls the waiter once when the signal aborts; waiters run in the order of these calls. A waiter must not throw. Precondition: it has
 * not aborted.
 */
export function watch(signal: AbortSignal, waiter: () => void): void {
  const { waiters } = watches.get(signal) ?? newWatch(signal);
  waiters.add(waiter);
}

/** Removes a waiter, even while the others are called. Does nothing if it is not waiting. */
export function unwatch(signal: AbortSignal, waiter: () => void): void {
  const found = watches.get(signal);
  if (found?.waiters.delete(waiter) && found.waiters.size === 0) found.end();
}

function newWatch(signal: AbortSignal): Watch {
  const waiters = new Set<() => void>();
  const aborted = (): void => {
    for (const waiter of waiters) {
      unwatch(signal, waiter);
      waiter();
    }
  };
  const watch: Watch = {
    waiters,
    end: () => {
      signal.removeEventListener('abort', aborted);
      watches.delete(signal);
    },
  };
  signal.addEventListener('abort', aborted, { once: true });
  watches.set(signal, watch);
  return watch;
}
