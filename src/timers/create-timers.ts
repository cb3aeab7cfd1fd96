import type * as node from 'node:timers';
import { MISSED_CALLS } from '../client/call-grids.ts';
import { InvalidConfigError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';
import { requireNode } from '../runtime.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { native } from '../time/native-timers.ts';
import { millisecondsOf } from './delays.ts';
import { setImmediateOf, type TimersPromises, timersLike } from './likeness.ts';
import { createPromises, type IsRefused } from './promise-timers.ts';
import { type Callback, Timeout } from './timeout.ts';
import { TimeoutSource, type TimersOptions } from './timeout-source.ts';

/**
 * The exports of node:timers, but for `enroll` and its kin: deprecated, and removed in Node 24, they go on serving
 * Node's timers.
 */
export interface Timers {
  setTimeout: typeof node.setTimeout;
  clearTimeout: typeof node.clearTimeout;
  setInterval: typeof node.setInterval;
  clearInterval: typeof node.clearInterval;
  setImmediate: typeof node.setImmediate;
  clearImmediate: typeof node.clearImmediate;
  promises: TimersPromises;
}

const nodes = native.timers;

/**
 * Creates the functions of node:timers and node:timers/promises on a scheduler: on its clock, and closed with it. Their
 * timers live in the thread that sets them, on a wheel of that thread, and those of equal due time fire in the order in
 * which they were set.
 * @throws InvalidArgumentError, InvalidConfigError, SchedulerClosedError.
 */
export function createTimers(scheduler: Scheduler, options: TimersOptions = {}): Timers {
  requireNode('shardwheel/timers', INSTEAD);
  const source = new TimeoutSource(scheduler, resolveTimersOptions(options));
  return timersOf(() => source);
}

/**
 * Behaviour and handles are held to those of Node's own timers, which the timers of other runtimes are not.
 * @internal
 */
export const INSTEAD = 'use createScheduler of shardwheel';

/** @internal */
export function resolveTimersOptions(options: TimersOptions) {
  const known = { missedCalls: 0, longDelays: 0 } satisfies Record<keyof TimersOptions, 0>;
  requireOptions(options, known, 'options', 'must be an object: timers have no hint');
  const { missedCalls = 'skip', longDelays = 'keep' } = options;
  if (!MISSED_CALLS.includes(missedCalls)) {
    throw new InvalidConfigError('options.missedCalls', "must be 'skip', 'burst' or 'delay'", missedCalls);
  }
  if (!['keep', 'warn'].includes(longDelays)) {
    throw new InvalidConfigError('options.longDelays', "must be 'keep' or 'warn'", longDelays);
  }
  return { missedCalls, longDelays };
}

/** By default the caller gets the error. */
const never: IsRefused = () => false;

/**
 * Creates the functions on a source that each timer asks for; without a source, or where `isRefused` says so, Node's
 * own functions do the work. setImmediate is Node's: an immediate has no time, and no wheel could run it sooner.
 * @internal
 */
export function timersOf(source: () => TimeoutSource | undefined, isRefused = never): Timers {
  // `arguments` is used because a rest parameter would create an array for each timeout without any.
  const setTimeout = function (this: unknown, callback: Callback, delay?: unknown): unknown {
    const own = source();
    // biome-ignore lint/complexity/noArguments: see above. It may throw
    if (own === undefined || typeof callback !== 'function') return Reflect.apply(nodes.setTimeout, this, arguments);
    // biome-ignore lint/complexity/noArguments: see above
    const given = arguments.length > 2 ? argumentsFrom(2, arguments) : undefined;
    const ms = millisecondsOf(delay, own.longDelays);
    try {
      return new Timeout(own.self, callback, ms, given, false);
    } catch (error) {
      if (!isRefused(error)) throw error;
      // biome-ignore lint/complexity/noArguments: see above
      return Reflect.apply(nodes.setTimeout, this, arguments);
    }
  };
  const setInterval = function (this: unknown, callback: Callback, delay?: unknown): unknown {
    const own = source();
    // biome-ignore lint/complexity/noArguments: see above
    if (own === undefined || typeof callback !== 'function') return Reflect.apply(nodes.setInterval, this, arguments);
    // biome-ignore lint/complexity/noArguments: see above
    const given = arguments.length > 2 ? argumentsFrom(2, arguments) : undefined;
    const ms = millisecondsOf(delay, own.longDelays);
    try {
      return new Timeout(own.self, callback, ms, given, true);
    } catch (error) {
      if (!isRefused(error)) throw error;
      // biome-ignore lint/complexity/noArguments: see above
      return Reflect.apply(nodes.setInterval, this, arguments);
    }
  };
  const promises = createPromises(source, isRefused);
  const own = timersLike({ setTimeout, clearTimeout, setInterval, clearInterval, clearImmediate }, promises);
  return { ...own, setImmediate: setImmediateOf(nodes), promises } as Timers;
}

type Handle = NodeJS.Timeout | string | number | undefined;

/** Clears a timeout or an interval, by object or number, including Node's own. */
function clearTimeout(handle: Handle): void {
  if (handle instanceof Timeout) handle.close();
  else nodes.clearTimeout(handle);
}

/** A separate function, as in Node. */
function clearInterval(handle: Handle): void {
  clearTimeout(handle);
}

/** Ignores timeouts, which are not immediates. Node 20 and 22 would accept one, and run no immediates from then on. */
function clearImmediate(handle: NodeJS.Immediate | undefined): void {
  if (!(handle instanceof Timeout)) nodes.clearImmediate(handle);
}

function argumentsFrom(first: number, all: IArguments): unknown[] {
  const given = new Array<unknown>(all.length - first);
  for (let at = 0; at < given.length; at++) given[at] = all[at + first];
  return given;
}
