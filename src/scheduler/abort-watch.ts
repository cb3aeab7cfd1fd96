/**
 * The waiters of each signal. All waiters of one signal share one listener, which is removed with the last of them. Separate
 * listeners would each be searched for among all others, and Node would warn of their number.
 */
const waiting = new WeakMap<AbortSignal, AbortWatch>();

class AbortWatch {
  readonly waiters = new Set<() => void>();
  private readonly signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.signal = signal;
    signal.addEventListener('abort', this.aborted, { once: true });
    waiting.set(signal, this);
  }

  end(): void {
    this.signal.removeEventListener('abort', this.aborted);
    waiting.delete(this.signal);
  }

  private readonly aborted = (): void => {
    this.end();
    for (const waiter of this.waiters) waiter();
  };
}

/** Calls the waiter once when the signal aborts; waiters run in the order of these calls. Precondition: it has not aborted. */
export function watch(signal: AbortSignal, waiter: () => void): void {
  const { waiters } = waiting.get(signal) ?? new AbortWatch(signal);
  waiters.add(waiter);
}

/** Removes a waiter. Does nothing if it is not waiting. */
export function unwatch(signal: AbortSignal, waiter: () => void): void {
  const found = waiting.get(signal);
  if (found?.waiters.delete(waiter) && found.waiters.size === 0) found.end();
}
