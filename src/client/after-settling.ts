// Taken once: a program may replace them.
const { apply } = Reflect;
const resolve = Promise.resolve.bind(Promise);
const { then } = Promise.prototype;

/**
 * Calls a function once a promise that the program has returned is settled; returns false if it returned none, or one
 * that cannot be listened to. Whether the program handles a rejection cannot be seen from here: Node reports it, with
 * the same reason, as unhandled. Never throws.
 */
export function afterSettling(returned: unknown, settled: () => void): boolean {
  if (!isThenable(returned)) return false;
  const rejected = (reason: unknown): never => {
    settled();
    throw reason;
  };
  try {
    void apply(then, resolve(returned), [settled, rejected]);
    return true;
  } catch {
    return false; // the program's own constructor has thrown
  }
}

function isThenable(value: unknown): boolean {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return false; // the program's own getter has thrown
  }
}
