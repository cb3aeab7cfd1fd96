import { runtime } from '../runtime.ts';
import { AsyncHookWatch, hasAsyncHooks } from './async-hook-watch.ts';
import { type Context, type ContextKeeper, HookedResource } from './context-keeper.ts';
import { FrameKeeper, findFrames } from './frame-keeper.ts';
import { ResourceKeeper } from './resource-keeper.ts';

/**
 * A callback runs in the async context (the stores of all AsyncLocalStorages) of the call that set its timer. A call
 * without a context keeps nothing; calls in one context keep the same reference. The method depends on Node:
 *
 *   AsyncLocalStorage on          Node             current()                        a timer in a context keeps
 *   frames                        24, 26           2 to 6 ns                        8 bytes: a store, or the frame
 *   async hooks                   20, 22           nothing until one is used,       an AsyncResource
 *                                                  then 20 ns, 60 to 75 in one
 *   anything else, including a frozen Node         an AsyncResource, 30 to 250 ns   an AsyncResource
 *
 * While the program has its own async hooks, each timer is an AsyncResource, as each of Node's is.
 */
const { keeper, hooks } = startKeeping();

function startKeeping() {
  const isHooked = hasAsyncHooks();
  const frames = findFrames();
  if (frames !== undefined) {
    return { keeper: new FrameKeeper(frames), hooks: new AsyncHookWatch(isHooked, () => false) };
  }
  // Bun's storages have the methods of those on async hooks, and never call them.
  const keeper = new ResourceKeeper(runtime === 'node');
  // Storages have a hook as well: if there already is one, it cannot be distinguished from the program's.
  return { keeper, hooks: new AsyncHookWatch(isHooked && !keeper.isUsed, () => keeper.isEnabling) };
}

/**
 * Whether a context that an interval's callback enters is kept for its next call: a resource keeps it, a frame does
 * not.
 */
export const isEnteredKept = keeper instanceof ResourceKeeper;

/** The context of this call; undefined if there is none. */
export function currentContext(): Context {
  return hooks.isHooked === true ? new HookedResource() : keeper.current();
}

/** Whether the program has its own async hooks, which see each timer. */
export const isHooked = (): boolean => hooks.isHooked === true;

/**
 * Runs callbacks in contexts, and forgets at the end of a turn all but those of timers. Turns call it directly, so that
 * a callback has one frame less of this package below it.
 */
export const contexts: Pick<ContextKeeper, 'run' | 'runUncaught' | 'outside' | 'forget'> = keeper;

/** Calls a function outside all contexts and all domains, so the handles that it creates belong to none. */
export const outsideContexts = <T>(callback: () => T): T => keeper.outside(callback);
