import { AsyncResource } from 'node:async_hooks';
import { process } from '../process.ts';
import { TickThatThrows } from './tick-that-throws.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
export type Callback = (...given: any[]) => unknown;

/**
 * An async context (the stores of all AsyncLocalStorages) as a timer keeps it: undefined if there is none. Its keeper
 * decides which of the forms below it has; equal contexts need not be equal values.
 */
export type Context = unknown;

export const RUN = Symbol('run');

/** Something that runs in a context. */
export interface Runnable {
  [RUN](context: Context): void;
}

/**
 * Keeps contexts, in a way that depends on how this Node implements AsyncLocalStorage: see `startKeeping` in
 * async-context.ts.
 */
export interface ContextKeeper {
  /** The context of the call that is running. */
  current(): Context;
  /**
   * Calls the function in a context, or outside all; a context that the function enters ends with it. Precondition:
   * this call is outside all contexts.
   */
  run(context: Context, callback: Callback, ...given: unknown[]): unknown;
  /**
   * Like `run`, for a timer whose error nobody catches: the handlers of Node's uncaught exception see its context. It
   * leaves this call, and the context stays entered until Node has run them; or it is thrown by a tick. The handle
   * whose call this was is not used again.
   */
  runUncaught(context: Context, timer: Runnable): void;
  /** Calls the function outside all contexts and domains, and returns its result. */
  outside<T>(callback: () => T): T;
  /** Releases what was remembered to recognise the next call's context. */
  forget(): void;
}

/** The place where the module `domain`, once it is loaded, shows the present domain. */
export const domains = process as { domain?: object | null };

/** Calls the function outside the present domain. */
export function outsideDomain<T>(callback: () => T): T {
  const { domain } = domains;
  domains.domain = null;
  try {
    return callback();
  } finally {
    domains.domain = domain;
  }
}

/**
 * A context as Node itself keeps one for a resource. Correct wherever AsyncResource is, but the most expensive form.
 */
export class TimerResource extends AsyncResource {
  constructor() {
    super('shardwheel.Timer');
  }
}

/** Whether this thread has made a hooked resource: most never do, and look for none. */
let areAny = false;

/**
 * The same while the program has async hooks. They must not see the end of its scope before an error: domains hang on
 * that.
 */
export class HookedResource extends TimerResource {
  /** Marks the class. `instanceof` would walk a store's chain of prototypes, and run the traps of a proxy in it. */
  readonly #isHooked = true;

  constructor() {
    super();
    areAny = true;
  }

  /** Whether a context is one. Runs nothing of a store's. */
  static is(context: Context): context is HookedResource {
    return areAny && typeof context === 'object' && context !== null && #isHooked in context;
  }

  /** See {@link ContextKeeper.runUncaught}. */
  runTimer(timer: Runnable): void {
    this.runInAsyncScope(runOrThrowByTick, undefined, timer, this);
  }
}

/** Its error comes before its own ticks, as an error of Node's timers does. */
function runOrThrowByTick(timer: Runnable, context: Context): void {
  const tick = new TickThatThrows();
  try {
    timer[RUN](context);
  } catch (error) {
    tick.throw(error);
  }
}
