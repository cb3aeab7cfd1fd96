import { type AsyncHook, AsyncResource, createHook } from 'node:async_hooks';
import { wire } from './wire.ts';

/**
 * Whether the program has its own async hooks: libraries that keep contexts by hand, with `createHook` and
 * `executionAsyncResource()`. They must see an async resource of each timer, as they see each of Node's own.
 *
 * For that, `enable` and `disable` of AsyncHook are wired. Hooks enabled earlier are detected because AsyncResource
 * then refuses an empty type.
 */
export class AsyncHookWatch {
  isHooked: boolean;
  private readonly enabled = new Set<AsyncHook>();

  /** `isNodes`: whether the hook that is being enabled is one of Node's own. */
  constructor(isHooked: boolean, isNodes: () => boolean) {
    this.isHooked = isHooked;
    const watch = this;
    const isWired = wire(Object.getPrototypeOf(createHook({})), {
      enable: (original) =>
        function enable(this: AsyncHook): unknown {
          if (!isNodes()) watch.enabled.add(this);
          watch.isHooked ||= watch.enabled.size > 0;
          return Reflect.apply(original, this, []);
        },
      disable: (original) =>
        function disable(this: AsyncHook): unknown {
          if (watch.enabled.delete(this)) watch.isHooked = watch.enabled.size > 0;
          return Reflect.apply(original, this, []);
        },
    });
    if (!isWired) this.isHooked = true; // as far as can be known
  }
}

/** Whether there is an async hook now, the program's or Node's. */
export function hasAsyncHooks(): boolean {
  try {
    new AsyncResource(''); // an empty type is refused only if a hook would see it
    return false;
  } catch {
    return true; // refused for its empty type: there is a hook
  }
}
