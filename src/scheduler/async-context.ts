import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/**
 * A callback runs in the async context (what every AsyncLocalStorage holds) of the call that set it. To keep a context
 * takes an AsyncResource and a closure per timer, or, to see whether there is one to keep, an AsyncResource per call:
 * both cost a program that has no contexts a third of its `schedule`. So contexts are kept from the moment on when the
 * first is made. That moment shows itself: `run` and `enterWith`, which alone make contexts, are wired when this module
 * is loaded, and the first call to either takes both wires away.
 *
 * Contexts made before are seen by the hook on async resources that they need: while there is one, an AsyncResource
 * without a type is refused. Where they need none (AsyncContextFrame, Node 24), or where that check is switched off,
 * nothing can be told, and contexts are kept from the start.
 */
const MAKERS = ['run', 'enterWith'] as const;

const UNCHECKED = '--no-force-async-hooks-checks';
const isTold =
  '_enable' in AsyncLocalStorage.prototype &&
  ![...process.execArgv, process.env.NODE_OPTIONS].join(' ').includes(UNCHECKED);

let areKept = !isTold || hasHooks();
if (!areKept) wire(AsyncLocalStorage.prototype);

function hasHooks(): boolean {
  try {
    new AsyncResource('');
    return false;
  } catch {
    return true;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
type Callback = (...given: any[]) => unknown;

/** Wires the methods that make contexts; where others have wired them since, ours stays below theirs and does nothing. */
function wire(prototype: Record<(typeof MAKERS)[number], Callback>): void {
  const unwire: (() => void)[] = [];
  for (const name of MAKERS) {
    const original = prototype[name];
    const wired = function (this: unknown, ...given: unknown[]): unknown {
      areKept = true;
      for (const restore of unwire) restore();
      return Reflect.apply(original, this, given);
    };
    prototype[name] = wired;
    unwire.push(() => {
      if (prototype[name] === wired) prototype[name] = original;
    });
  }
}

/** The context of this call; undefined where there is none. */
export function currentContext(type: string): AsyncResource | undefined {
  return areKept ? new AsyncResource(type) : undefined;
}

/** The callback, bound to the context of this call where there may be one. */
export function inContext<F extends Callback | undefined>(callback: F): F {
  // Compared, not only tested: see Scheduler.requireOpen.
  return areKept === true && callback !== undefined ? (bound(callback) as F) : callback;
}

function bound(callback: Callback): Callback {
  const resource = new AsyncResource('shardwheel.Timer');
  return (...given) => resource.runInAsyncScope(callback, undefined, ...given);
}
