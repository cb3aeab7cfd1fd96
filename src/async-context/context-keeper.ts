import { AsyncResource } from 'node:async_hooks';

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
export type Callback = (...given: any[]) => unknown;

/**
 * An async context (what every AsyncLocalStorage holds) as a timer keeps it: undefined where there is none. Which of the
 * forms below a context has is its keeper's business; equal contexts need not be equal values.
 */
export type Context = unknown;

/** How contexts are kept depends on how this Node implements AsyncLocalStorage: see `keepers`. */
export interface ContextKeeper {
  /** The context of the call that is running. */
  current(): Context;
  /**
   * Calls the function in a context, or outside of all; a context that it enters ends with it. Precondition: this call
   * is outside of all contexts.
   */
  run(context: Context, callback: Callback, ...given: unknown[]): unknown;
  /**
   * As `run`, for a callback whose error nobody catches: where it throws, the context is left entered, so that what Node
   * calls for an uncaught exception sees it. The precondition holds again once Node has been there, and whatever the event
   * loop has called this for is used no more.
   */
  runUncaught(context: Context, callback: Callback, ...given: unknown[]): void;
  /** Calls the function outside of all contexts, and returns what it does. */
  outside<T>(callback: () => T): T;
  /** Lets go of what was remembered to recognise the next call's context. */
  forget(): void;
}

/** A context as Node itself keeps one for a resource. Right wherever AsyncResource is, and the dearest form. */
export class TimerResource extends AsyncResource {
  constructor() {
    super('shardwheel.Timer');
  }
}
