import { type Callback, type Context, type ContextKeeper, TimerResource } from './context-keeper.ts';

/** Contexts on a runtime that shows nothing of how it keeps them: an AsyncResource for each call. */
export class ResourceKeeper implements ContextKeeper {
  private readonly none = new TimerResource();

  current(): Context {
    return new TimerResource();
  }

  run(context: Context, callback: Callback, ...given: unknown[]): unknown {
    return ((context ?? this.none) as TimerResource).runInAsyncScope(callback, undefined, ...given);
  }

  /** What an error's handlers see is the context of this call: into another none can be entered here. */
  runUncaught(context: Context, callback: Callback, ...given: unknown[]): void {
    this.run(context, callback, ...given);
  }

  /** As near as can be: the context in which this package was loaded. */
  outside<T>(callback: () => T): T {
    return this.none.runInAsyncScope(callback);
  }

  forget(): void {}
}
