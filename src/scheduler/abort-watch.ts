/**
 * What ends the wait of each signal's waiters. All waiters of one signal share one listener, which is removed with the last of them.
 * Separate listeners would each be searched for among all others, and Node would warn of their number.
 */
const watches = new WeakMap<AbortSignal, { readonly waiters: Set<() => void>; readonly end: () => void }>();

/** Calls the waiter once when the signal aborts; waiters run in the order of these calls. Precondition: it has not aborted. */
export function watch(signal: AbortSignal, waiter: () => void): void {
  const { waiters } = watches.get(signal) ?? newWatch(signal);
  waiters.add(waiter);
}

/** Removes a waiter. Does nothing if it is not waiting. */
export function unwatch(signal: AbortSignal, waiter: () => void): void {
  const found = watches.get(signal);
  if (found?.waiters.delete(waiter) && found.waiters.size === 0) found.end();
}

function newWatch(signal: AbortSignal) {
  const waiters = new Set<() => void>();
  const end = (): void => {
    signal.removeEventListener('abort', aborted);
    watches.delete(signal);
  };
  const aborted = (): void => {
    end();
    for (const waiter of waiters) waiter();
  };
  signal.addEventListener('abort', aborted, { once: true });
  const watch = { waiters, end };
  watches.set(signal, watch);
  return watch;
}
