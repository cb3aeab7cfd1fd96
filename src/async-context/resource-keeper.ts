import { AsyncLocalStorage, executionAsyncId, executionAsyncResource } from 'node:async_hooks';
import { process } from '../process.ts';
import {
  type Callback,
  type Context,
  type ContextKeeper,
  domains,
  HookedResource,
  outsideDomain,
  RUN,
  type Runnable,
  TimerResource,
} from './context-keeper.ts';
import { wire } from './wire.ts';

/**
 * Contexts on a runtime that does not show them as frames: an AsyncResource for each call keeps them.
 *
 * If AsyncLocalStorage uses async hooks, the default up to Node 22, a context is the stores of all storages. Where no
 * storage has a store, there is no context, and nothing to keep. The keys of stores are known by `_enable`, which a
 * storage calls before its first context is made, and which is wired for that; a storage that was used before this
 * module was loaded shows its key in any AsyncResource. A key does not keep its storage.
 */
export class ResourceKeeper implements ContextKeeper {
  /** A storage is being enabled: the present calls are Node's. */
  isEnabling = false;
  private readonly none = new TimerResource();
  /** Undefined where they cannot be known. */
  private readonly keys: Set<symbol> | undefined;

  /** `hasHooks`: whether this runtime's storages use async hooks as Node's do. */
  constructor(hasHooks: boolean) {
    const { prototype } = AsyncLocalStorage;
    if (!hasHooks || !('_enable' in prototype)) return;
    const keys = new Set(storeKeysOf(this.none));
    const keeper = this;
    const isWired = wire(prototype, {
      disable: (original) =>
        function disable(this: { readonly kResourceStore: symbol }): unknown {
          keys.delete(this.kResourceStore); // `_enable` adds it again
          return Reflect.apply(original, this, []);
        },
      _enable: (original) =>
        function _enable(this: { readonly kResourceStore: symbol }): unknown {
          keys.add(this.kResourceStore);
          keeper.isEnabling = true;
          try {
            return Reflect.apply(original, this, []);
          } finally {
            keeper.isEnabling = false;
          }
        },
    });
    if (isWired) this.keys = keys;
  }

  /** Whether a storage has ever been used, as far as can be known. */
  get isUsed(): boolean {
    return this.keys === undefined || this.keys.size > 0;
  }

  current(): Context {
    const { keys } = this;
    if (keys === undefined) return new TimerResource();
    if (keys.size === 0) return undefined;
    const stores = storesOn(executionAsyncResource());
    for (const key of keys) if (stores[key] !== undefined) return new TimerResource();
    return undefined;
  }

  /**
   * Without a context, in a resource of its own: a context that the callback enters ends with it. Before the first
   * storage is used it runs in the resource of the turn, which is bared if it is the one that uses it.
   */
  run(context: Context, callback: Callback, ...given: unknown[]): unknown {
    if (context !== undefined || this.isUsed) {
      return ((context ?? this.bare()) as TimerResource).runInAsyncScope(callback, undefined, ...given);
    }
    try {
      return callback(...given);
    } finally {
      if (this.isUsed) this.strip(executionAsyncResource());
    }
  }

  runUncaught(context: Context, timer: Runnable): void {
    if (context !== undefined && HookedResource.is(context)) context.runTimer(timer);
    else if (context === undefined && !this.isUsed) {
      timer[RUN](context);
      if (this.isUsed) this.strip(executionAsyncResource());
    } else {
      const resource = (context ?? this.bare()) as TimerResource;
      let isDone = false;
      try {
        resource.runInAsyncScope(timer[RUN], timer, context);
        isDone = true;
      } finally {
        if (!isDone) enter(resource);
      }
    }
  }

  /** Where keys cannot be known, as near as possible: in the context in which this package was loaded. */
  outside<T>(callback: () => T): T {
    if (domains.domain !== undefined && domains.domain !== null) return outsideDomain(() => this.outside(callback));
    if (!this.isUsed) return callback();
    if (this.keys === undefined) return this.none.runInAsyncScope(callback);
    return this.bare().runInAsyncScope(callback);
  }

  forget(): void {}

  /**
   * A resource outside all contexts, whatever the running one has entered: before hooks were on, a reaction of a
   * promise was called in the resource of the turn.
   */
  private bare(): TimerResource {
    const resource = new TimerResource();
    this.strip(resource);
    return resource;
  }

  private strip(resource: object): void {
    const stores = storesOn(resource);
    for (const key of this.keys ?? []) if (stores[key] !== undefined) stores[key] = undefined;
  }
}

/**
 * Enters the running resource with the stores of another; but not Node's top-level resource, which would keep them for
 * good.
 */
function enter(resource: TimerResource): void {
  if (executionAsyncId() === 0) return;
  const [from, to] = [storesOn(resource), storesOn(executionAsyncResource())];
  for (const key of storeKeysOf(resource)) to[key] = from[key];
}

/** Node 24 and later, without frames: a resource has an object that holds its stores. */
const isSeparate = Number.parseInt(process.versions.node, 10) > 22;

function storesOn(resource: object): Record<symbol, unknown> {
  if (isSeparate) {
    for (const symbol of Object.getOwnPropertySymbols(resource)) {
      const value = (resource as Record<symbol, unknown>)[symbol];
      if (symbol.description === 'kAsyncLocalStorageContext' && value !== undefined)
        return value as Record<symbol, unknown>;
    }
  }
  return resource as Record<symbol, unknown>;
}

/** The keys under which a resource holds the stores of its context. */
const storeKeysOf = (resource: TimerResource): symbol[] =>
  Object.getOwnPropertySymbols(storesOn(resource)).filter(({ description }) => description === 'kResourceStore');
