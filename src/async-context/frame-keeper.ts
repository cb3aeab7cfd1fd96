import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
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
} from './context-keeper.ts';

const { isProxy } = process.getBuiltinModule('node:util').types;
// Taken once: a program may replace it.
const { getPrototypeOf } = Reflect;

type Storage = AsyncLocalStorage<unknown>;

/** Node's AsyncContextFrame: an immutable map from storages to stores, one of which is current. */
type Frame = ReadonlyMap<Storage, unknown>;

interface FrameClass {
  readonly prototype: Frame;
  new (storage: Storage, store: unknown): Frame;
  current(): Frame | undefined;
  set(frame: Frame | undefined): void;
}

const { getStore } = AsyncLocalStorage.prototype;

/**
 * Contexts if AsyncLocalStorage uses AsyncContextFrame: the default from Node 24 on.
 *
 * Reading the current frame takes some ns, and it is the same object as long as the context is the same. Most programs
 * have one storage. If a frame holds only the store of the storage seen first, only this store is kept, 8 bytes, and
 * the frame (some 180) is released. Any other frame is kept itself.
 *
 *   kept   a Frame          that frame
 *          a HookedResource  see `async-hook-watch.ts`
 *          anything else    the store of `first`, alone
 *
 * `run` leaves a frame behind in which the storage holds undefined: no context, like any frame whose stores are all
 * what `getStore` returns without one.
 */
export class FrameKeeper implements ContextKeeper {
  private readonly frames: FrameClass;
  private readonly currentFrame: () => Frame | undefined;
  private readonly defaults = new WeakMap<Storage, unknown>();
  private first: Storage | undefined;
  /** Whether a whole frame was ever kept: with one storage none is, and none is looked for. */
  private keepsFrames = false;
  /** The latest frame, and what is kept of it. */
  private recent: Frame | undefined;
  private recentContext: Context;
  /** A frame does not change, except that `disable` removes a storage. */
  private recentSize = 0;

  constructor(frames: FrameClass) {
    this.frames = frames;
    this.currentFrame = frames.current;
  }

  current(): Context {
    const frame = this.currentFrame();
    if (frame === undefined) return undefined;
    return frame === this.recent && frame.size === this.recentSize ? this.recentContext : this.note(frame);
  }

  run(context: Context, callback: Callback, ...given: unknown[]): unknown {
    const { frames } = this;
    if (context !== undefined) {
      if (HookedResource.is(context)) return context.runInAsyncScope(callback, undefined, ...given);
      this.enter(context);
    }
    try {
      return callback(...given);
    } finally {
      if (this.currentFrame() !== undefined) frames.set(undefined); // also if the callback has entered a context
    }
  }

  runUncaught(context: Context, timer: Runnable): void {
    if (context !== undefined) {
      if (HookedResource.is(context)) {
        context.runTimer(timer);
        return;
      }
      this.enter(context);
    }
    timer[RUN](context);
    if (this.currentFrame() !== undefined) this.frames.set(undefined);
  }

  outside<T>(callback: () => T): T {
    if (domains.domain !== undefined && domains.domain !== null) return outsideDomain(() => this.outside(callback));
    const prior = this.currentFrame();
    if (prior === undefined) return callback();
    this.frames.set(undefined);
    try {
      return callback();
    } finally {
      this.frames.set(prior);
    }
  }

  forget(): void {
    this.recent = undefined;
    this.recentContext = undefined;
  }

  private enter(context: Context): void {
    const { frames } = this;
    frames.set(this.isFrame(context) ? context : new frames(this.first as Storage, context));
  }

  /**
   * Whether what is kept is a frame. `instanceof` would walk a store's chain of prototypes, and run the traps of a
   * proxy in it. Precondition: it is itself no proxy.
   */
  private isFrame(context: Context): context is Frame {
    if (!this.keepsFrames || typeof context !== 'object' || context === null) return false;
    return getPrototypeOf(context) === this.frames.prototype;
  }

  private whole(frame: Frame): Frame {
    this.keepsFrames = true;
    return frame;
  }

  private note(frame: Frame): Context {
    this.recent = frame;
    this.recentSize = frame.size;
    this.recentContext = this.contextOf(frame);
    return this.recentContext;
  }

  private contextOf(frame: Frame): Context {
    const { first } = this;
    if (first !== undefined && frame.size === 1) {
      const store = frame.get(first);
      if (store !== undefined && store !== this.defaultOf(first)) return isProxy(store) ? this.whole(frame) : store;
    }
    const holders: Storage[] = [];
    frame.forEach((store, storage) => {
      if (!Object.is(store, this.defaultOf(storage))) holders.push(storage);
    });
    if (holders.length === 0) return undefined;
    this.first ??= holders[0];
    if (holders.length > 1 || holders[0] !== this.first) return this.whole(frame);
    const store = frame.get(this.first);
    // Undefined can differ from the default, and alone would mean no context; traps of a proxy would run when contexts
    // are told apart.
    return store === undefined || isProxy(store) ? this.whole(frame) : store;
  }

  /** What `getStore` of a storage returns outside all contexts. */
  private defaultOf(storage: Storage): unknown {
    if (!this.defaults.has(storage)) {
      this.outside(() => this.defaults.set(storage, Reflect.apply(getStore, storage, [])));
    }
    return this.defaults.get(storage);
  }
}

/**
 * Node's class of frames; undefined if contexts are not frames, or not as expected here. No public name leads to it: an
 * AsyncResource shows its frame under a symbol, and the frame its class.
 */
export function findFrames(): FrameClass | undefined {
  if ('_enable' in AsyncLocalStorage.prototype) return undefined; // contexts by async hooks
  const symbol = Object.getOwnPropertySymbols(new AsyncResource('shardwheel')).find(
    ({ description }) => description === 'context_frame',
  );
  if (symbol === undefined) return undefined;
  const frameOf = (resource: AsyncResource) => (resource as unknown as Record<symbol, Frame | undefined>)[symbol];
  const before = frameOf(new AsyncResource('shardwheel'));
  const probe = new AsyncLocalStorage<boolean>();
  let frames: FrameClass | undefined;
  probe.run(true, () => {
    const frame = frameOf(new AsyncResource('shardwheel'));
    if (frame === undefined) return;
    const found = frame.constructor as unknown as Partial<FrameClass>;
    if (typeof found.current !== 'function' || typeof found.set !== 'function') return;
    if (found.current() === frame && getPrototypeOf(frame) === found.prototype) frames = found as FrameClass;
  });
  frames?.set(before);
  return frames;
}
