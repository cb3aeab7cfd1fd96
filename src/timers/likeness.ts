import type * as node from 'node:timers/promises';
import { process } from '../process.ts';
import { areNative, like, native } from '../time/native-timers.ts';

const { promisify } = process.getBuiltinModule('node:util');

/** The exports of node:timers/promises. */
export interface TimersPromises {
  setTimeout: typeof node.setTimeout;
  setInterval: typeof node.setInterval;
  setImmediate: typeof node.setImmediate;
  scheduler: typeof node.scheduler;
}

/** Node's own function; while fakes hide it, one that calls whatever is known to be Node's by then. */
export function setImmediateOf<F extends (...given: never[]) => unknown>(nodes: { readonly setImmediate: F }): F {
  if (areNative()) return nodes.setImmediate;
  const later = (...given: never[]): unknown => {
    areNative(); // looks again
    return nodes.setImmediate(...given);
  };
  return like(nodes.setImmediate, later);
}

/**
 * Gives each function the name and length of Node's, and `setTimeout` the promise that `util.promisify` makes of
 * Node's.
 */
export function timersLike<F extends object>(own: F, promises: Pick<TimersPromises, 'setTimeout'>): F {
  for (const [name, call] of Object.entries(own)) like(native.timers[name as 'setTimeout'], call);
  const { setTimeout } = own as { setTimeout?: object };
  Object.defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => promises.setTimeout });
  return own;
}

/** The same for the promise functions, with a `scheduler` that waits by ours. */
export function promisesLike(setTimeout: unknown, setInterval: unknown) {
  const nodes = native.promises;
  const promises = {
    setTimeout: like(nodes.setTimeout, setTimeout),
    setInterval: like(nodes.setInterval, setInterval),
  };
  const wait = like(nodes.scheduler.wait, (delay: number, options?: object) =>
    promises.setTimeout(delay, undefined, options),
  );
  // Otherwise Node's object: its class cannot be constructed.
  const scheduler = Object.create(nodes.scheduler, { wait: { value: wait, writable: true, configurable: true } });
  return { ...promises, scheduler: scheduler as typeof nodes.scheduler };
}
