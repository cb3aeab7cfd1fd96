import {
  type Callback,
  type Context,
  type ContextKeeper,
  RUN,
  type Runnable,
  TimerResource,
} from './context-keeper.ts';

/** Contexts on a runtime that does not show how it keeps them: an AsyncResource for each call. */
export class ResourceKeeper implements ContextKeeper {
  private readonly none = new TimerResource();

  current(): Context {
    return new TimerResource();
  }

  run(context: Context, callback: Callback, ...given: unknown[]): unknown {
    return ((context ?? this.none) as TimerResource).runInAsyncScope(callback, undefined, ...given);
  }

  /** The handlers of an error see the context of this call: no other context can be entered here. */
  runUncaught(context: Context, timer: Runnable): void {
    ((context ?? this.none) as TimerResource).runInAsyncScope(timer[RUN], timer, context);
  }

  /** As near as possible: the context in which this package was loaded. */
  outside<T>(callback: () => T): T {
    return this.none.runInAsyncScope(callback);
  }

  forget(): void {}
}
