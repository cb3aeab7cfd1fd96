import { type AsyncHook, AsyncResource, createHook } from 'node:async_hooks';
import type { Callback } from './context-keeper.ts';
import { canWire, wire } from './wire.ts';

/**
 * Whether the program has its own async hooks: libraries that keep contexts by hand, with `createHook` and
 * `executionAsyncResource()`. They must see an async resource of each timer, as they see each of Node's own.
 *
 * For that, `enable` and `disable` of AsyncHook are wired. Hooks enabled earlier are detected because AsyncResource then refuses
 * an empty type.
 */
export class AsyncHookWatch {
  isHooked: boolean;
  private readonly enabled = new Set<AsyncHook>();

  /** `isNodes`: whether the hook that is being enabled is one of Node's own. */
  constructor(isHooked: boolean, isNodes: () => boolean) {
    this.isHooked = isHooked;
    const watch = this;
    const prototype = Object.getPrototypeOf(createHook({})) as Record<'enable' | 'disable', Callback>;
    if (!canWire(prototype, 'enable', 'disable')) {
      this.isHooked = true; // as far as can be known
      return;
    }
    wire(prototype, 'enable', (original) => {
      return function enable(this: AsyncHook): unknown {
        if (!isNodes()) watch.enabled.add(this);
        watch.isHooked ||= watch.enabled.size > 0;
        return Reflect.apply(original, this, []);
      };
    });
    wire(prototype, 'disable', (original) => {
      return function disable(this: AsyncHook): unknown {
        if (watch.enabled.delete(this)) watch.isHooked = watch.enabled.size > 0;
        return Reflect.apply(original, this, []);
      };
    });
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
