import { process } from '../process.ts';
import { nextTick } from '../unfaked.ts';

/**
 * Runs the ticks and microtasks of a callback before the next one runs, as Node does between two of its own timers. It
 * is Node's own function and takes 30 to 47 ns; an immediate for each callback takes 1,200. Undefined if Node does not
 * have it: it is not documented. With --pending-deprecation Node wraps it in a function that warns, whose prototype is
 * the one that is wrapped.
 *
 * An error of a tick leaves this call, and must reach Node. If it is caught, Node's stack of async ids stays wrong, and
 * the process aborts when the running immediate or timer ends.
 */
export const runTicks: (() => void) | undefined = findRunTicks();

function findRunTicks(): (() => void) | undefined {
  const { _tickCallback: found } = process as unknown as { _tickCallback?: unknown };
  if (typeof found !== 'function') return undefined;
  const wrapped = Object.getPrototypeOf(found);
  return wrapped === Function.prototype ? (found as () => void) : wrapped;
}

/** Makes the error an uncaught exception as soon as this call's caller is done, in the context of this call. */
export function throwUncaught(error: unknown): void {
  nextTick(rethrow, error);
}

const rethrow = (error: unknown): never => {
  throw error;
};
