import { AsyncResource } from 'node:async_hooks';

/**
 * Makes an object of a class its own async resource, as each of Node's timers is: async hooks see that object, and
 * `executionAsyncResource()` returns it while code runs in its scope. The class does not extend AsyncResource, since most of its
 * objects are created while there are no hooks; see `Adopted`.
 */
export function newOwnResource<T extends object>(type: string, made: new (...given: never[]) => T): T {
  return Reflect.construct(AsyncResource, [type, { requireManualDestroy: true }], made) as T;
}

/** Calls a function in the scope of an object that `newOwnResource` has made. */
export function runInOwnScope<R>(resource: object, callback: () => R): R {
  return Reflect.apply(AsyncResource.prototype.runInAsyncScope, resource, [callback]) as R;
}

/** Reports the end of the resource to hooks, once. It holds no context from now on, even if it is still referenced. */
export function destroyOwnResource(resource: object): void {
  Reflect.apply(AsyncResource.prototype.emitDestroy, resource, []);
  const fields = resource as Record<symbol, unknown>;
  for (const key of Object.getOwnPropertySymbols(resource))
    if (typeof fields[key] !== 'number') fields[key] = undefined;
}

/** A class that extends this adds its private fields to an existing object, if it gets one. */
export class Adopted {
  constructor(existing?: object) {
    // biome-ignore lint/correctness/noConstructorReturn: that is how an object is adopted
    if (existing !== undefined) return existing;
  }
}
