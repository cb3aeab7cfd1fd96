import { type AsyncHook, AsyncResource, createHook } from 'node:async_hooks';
import type { Callback } from './context-keeper.ts';
import { canWire, wire } from './wire.ts';

/**
 * Whether the program has async hooks of its own: libraries that keep contexts by hand, with `createHook` and
 * `executionAsyncResource()`. They have to see an async resource of each timer, as they see each of Node's own.
 *
 * `enable` and `disable` of AsyncHook are wired for that; hooks enabled before are seen by what AsyncResource refuses
 * while there is one.
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
      this.isHooked = true; // for all that can be known
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
    new AsyncResource(''); // a type is missed only where a hook would get to see it
    return false;
  } catch {
    return true; // refused for want of a type: a hook looks at it
  }
}
