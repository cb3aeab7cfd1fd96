// Taken once: a program may replace them.
const { apply } = Reflect;
const resolve = Promise.resolve.bind(Promise);
const { then } = Promise.prototype;

/**
 * Calls a function once a promise that the program has returned is settled; returns false if it returned none. A rejection that the
 * program does not handle stays one: Node reports it with the same reason.
 */
export function afterSettling(returned: unknown, settled: () => void): boolean {
  if (!isThenable(returned)) return false;
  const rejected = (reason: unknown): never => {
    settled();
    throw reason;
  };
  void apply(then, resolve(returned), [settled, rejected]);
  return true;
}

function isThenable(value: unknown): boolean {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  try {
    return typeof (value as { then?: unknown }).then === 'function';
  } catch {
    return false; // the program's own getter has thrown
  }
}
