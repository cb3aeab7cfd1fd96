import { AsyncLocalStorage, executionAsyncId, executionAsyncResource } from 'node:async_hooks';
import { type Callback, type Context, type ContextKeeper, TimerResource } from './context-keeper.ts';
import { canWire, wire } from './wire.ts';

/** The internals of AsyncLocalStorage if it uses async hooks. */
interface Storage {
  readonly enabled: boolean;
  /** The key of the storage's store in each async resource. */
  readonly kResourceStore: symbol;
}

/** The stores of a context that has several, or one that is not of `first`: storage, store, storage, store, … */
class Stores {
  readonly pairs: readonly unknown[];

  constructor(pairs: readonly unknown[]) {
    this.pairs = pairs;
  }
}

// Taken once: a program may wire them, and would then see calls made only for timers.
const { enterWith, getStore, run } = AsyncLocalStorage.prototype as unknown as Record<
  'enterWith' | 'getStore' | 'run',
  Callback
>;

/**
 * Contexts if AsyncLocalStorage uses async hooks: the default up to Node 22.
 *
 * A context is the stores of all storages. Storages are found when they are used: `_enable` is called before a storage's first
 * context is made, and is wired for that. While none is known, there is no context, and nothing to read. For storages
 * that were used before this module was loaded, any AsyncResource shows the keys. Until such a storage is used again,
 * contexts with a store of it are kept as a resource.
 *
 *   kept   Stores           several stores, one object for calls in a row of the same context
 *          a TimerResource  with a store of a storage not seen yet; and see `async-hook-watch.ts`
 *          anything else    the store of `first`, alone
 */
export class StoreKeeper implements ContextKeeper {
  /** A storage is being enabled: the present calls are Node's. */
  isEnabling = false;
  /** The storage met first, and the others that are enabled. */
  private first: Storage | undefined;
  private readonly others = new Set<Storage>();
  /** Keys of storages not seen yet. */
  private readonly unmet: Set<symbol>;
  private recent: Stores | undefined;

  /** Whether storages have the expected internals, and can be wired. */
  static isPossible(): boolean {
    const { prototype } = AsyncLocalStorage;
    return '_enable' in prototype && canWire(prototype, '_enable', 'disable');
  }

  constructor() {
    this.unmet = new Set(keysOf(storesOn(new TimerResource())));
    this.wireStorages();
  }

  /** Whether a storage has ever been used. */
  get isUsed(): boolean {
    return this.first !== undefined || this.unmet.size > 0;
  }

  current(): Context {
    return this.isUsed ? this.look() : undefined;
  }

  /** Runs it in a separate resource, made outside all contexts: a context that the callback enters ends with it. */
  run(context: Context, callback: Callback, ...given: unknown[]): unknown {
    if (context === undefined && !this.isUsed) return callback(...given);
    if (context instanceof TimerResource) return context.runInAsyncScope(callback, undefined, ...given);
    const resource = new TimerResource();
    if (context === undefined) return resource.runInAsyncScope(callback, undefined, ...given);
    let inner = callback;
    const { pairs } = context instanceof Stores ? context : { pairs: [this.first, context] };
    for (let at = 0; at < pairs.length; at += 2) inner = within(pairs[at] as Storage, pairs[at + 1], inner);
    return resource.runInAsyncScope(inner, undefined, ...given);
  }

  runUncaught(context: Context, callback: Callback, ...given: unknown[]): void {
    let isDone = false;
    try {
      this.run(context, callback, ...given);
      isDone = true;
    } finally {
      if (!isDone && context !== undefined) this.enter(context);
    }
  }

  outside<T>(callback: () => T): T {
    if (!this.isUsed) return callback();
    const resource = new TimerResource();
    const stores = storesOn(resource);
    for (const key of keysOf(stores)) stores[key] = undefined;
    return resource.runInAsyncScope(callback);
  }

  forget(): void {
    this.recent = undefined;
  }

  /** Enters the running resource; but not Node's top-level resource, which would keep the context for good. */
  private enter(context: Context): void {
    if (executionAsyncId() === 0) return;
    if (context instanceof TimerResource) {
      const [from, to] = [storesOn(context), storesOn(executionAsyncResource())];
      for (const key of keysOf(from)) to[key] = from[key];
      return;
    }
    const { pairs } = context instanceof Stores ? context : { pairs: [this.first, context] };
    for (let at = 0; at < pairs.length; at += 2) {
      const storage = pairs[at] as Storage;
      if (storage.enabled) Reflect.apply(enterWith, storage, [pairs[at + 1]]);
    }
  }

  private look(): Context {
    if (this.unmet.size > 0) {
      const resource = new TimerResource();
      const stores = storesOn(resource);
      for (const key of this.unmet) if (stores[key] !== undefined) return resource;
    }
    const { first } = this;
    const store = first === undefined ? undefined : Reflect.apply(getStore, first, []);
    if (this.others.size === 0) return store;
    let pairs: unknown[] | undefined;
    for (const other of this.others) {
      const its = Reflect.apply(getStore, other, []);
      if (its === undefined) continue;
      pairs ??= [];
      pairs.push(other, its);
    }
    if (pairs === undefined) return store;
    if (store !== undefined) pairs.push(first, store);
    return this.share(pairs);
  }

  private share(pairs: unknown[]): Stores {
    const { recent } = this;
    if (recent?.pairs.length === pairs.length && pairs.every((each, at) => each === recent.pairs[at])) return recent;
    this.recent = new Stores(pairs);
    return this.recent;
  }

  private meet(storage: Storage): void {
    this.unmet.delete(storage.kResourceStore);
    this.first ??= storage;
    if (storage !== this.first) this.others.add(storage);
  }

  /** `run` and `enterWith` call `_enable` each time: for a storage that is enabled and known this returns at once. */
  private wireStorages(): void {
    const keeper = this;
    const prototype = AsyncLocalStorage.prototype as unknown as Record<'_enable' | 'disable', Callback>;
    wire(prototype, '_enable', (original) => {
      return function _enable(this: Storage): unknown {
        if (this.enabled && keeper.unmet.size === 0) return undefined;
        keeper.meet(this);
        keeper.isEnabling = true;
        try {
          return Reflect.apply(original, this, []);
        } finally {
          keeper.isEnabling = false;
        }
      };
    });
    wire(prototype, 'disable', (original) => {
      return function disable(this: Storage): unknown {
        keeper.unmet.delete(this.kResourceStore);
        keeper.others.delete(this); // `exit` disables, and enables again
        return Reflect.apply(original, this, []);
      };
    });
  }
}

/** Skips a storage that was disabled meanwhile: it has no stores, and would be enabled. */
const within = (storage: Storage, store: unknown, callback: Callback): Callback =>
  storage.enabled ? (...given) => Reflect.apply(run, storage, [store, callback, ...given]) : callback;

type StoresByKey = Record<symbol, unknown>;

const keysOf = (stores: object): symbol[] =>
  Object.getOwnPropertySymbols(stores).filter(({ description }) => description === 'kResourceStore');

/**
 * The object that holds the stores of a resource: the resource itself (Node 20, 22), or a separate one (24 and later, without
 * frames).
 */
function storesOn(resource: object): StoresByKey {
  for (const symbol of Object.getOwnPropertySymbols(resource)) {
    const value = (resource as StoresByKey)[symbol];
    if (symbol.description === 'kAsyncLocalStorageContext' && value !== undefined) return value as StoresByKey;
  }
  return resource as StoresByKey;
}
