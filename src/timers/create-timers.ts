import * as node from 'node:timers';
import { promisify } from 'node:util';
import type { WorkerHint } from '../client/placement.ts';
import { InvalidConfigError } from '../errors.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { MissedCalls } from './missed-calls.ts';
import { createPromises, type TimersPromises } from './promise-timers.ts';
import { type Callback, Timeout, timeoutOf } from './timeout.ts';
import { TimeoutSource } from './timeout-source.ts';

/** What node:timers exports, but for what Node has deprecated. */
export interface Timers {
  setTimeout: typeof node.setTimeout;
  clearTimeout: typeof node.clearTimeout;
  setInterval: typeof node.setInterval;
  clearInterval: typeof node.clearInterval;
  setImmediate: typeof node.setImmediate;
  clearImmediate: typeof node.clearImmediate;
  promises: TimersPromises;
}

export interface TimersOptions {
  /** What intervals do when calls are overdue; see {@link MissedCalls}. Default 'skip'. */
  missedCalls?: MissedCalls;
}

/**
 * The functions of node:timers and node:timers/promises, on a scheduler. One hint for all: one shard keeps them, and so
 * timers of equal due time fire in the order in which they were set.
 * Throws InvalidArgumentError, InvalidConfigError, SchedulerClosedError.
 */
export function createTimers(
  scheduler: Scheduler,
  workerHint: WorkerHint = 0,
  { missedCalls = 'skip' }: TimersOptions = {},
): Timers {
  if (!['skip', 'burst', 'delay'].includes(missedCalls)) {
    throw new InvalidConfigError('options.missedCalls', "must be 'skip', 'burst' or 'delay'", missedCalls);
  }
  const source = new TimeoutSource(scheduler, workerHint, missedCalls);
  return timersOf(() => source);
}

/**
 * The functions, on a source that is asked for with every timer. An immediate has no time, and no wheel could run it
 * sooner than Node does: those functions are Node's own.
 */
export function timersOf(source: () => TimeoutSource): Timers {
  const set = (isInterval: boolean) => {
    const nodes = isInterval ? node.setInterval : node.setTimeout;
    return (callback: Callback, delay?: unknown, ...given: unknown[]): Timeout => {
      if (typeof callback !== 'function') nodes(callback); // throws what Node throws
      return new Timeout(source(), callback, delay, given.length === 0 ? undefined : given, isInterval);
    };
  };
  const setTimeout = named('setTimeout', set(false)) as unknown as typeof node.setTimeout;
  const setInterval = named('setInterval', set(true)) as unknown as typeof node.setInterval;
  const promises = createPromises(source);
  Object.defineProperty(setTimeout, promisify.custom, { enumerable: true, get: () => promises.setTimeout });
  const { setImmediate, clearImmediate } = node;
  return {
    setTimeout,
    clearTimeout: named('clearTimeout', clear),
    setInterval,
    clearInterval: named('clearInterval', (handle: Handle) => clear(handle)),
    setImmediate,
    clearImmediate,
    promises,
  };
}

type Handle = NodeJS.Timeout | string | number | undefined;

/** Clears what setTimeout and setInterval have returned, or its number; also where they were Node's own. */
function clear(handle: Handle): void {
  const timeout = typeof handle === 'number' || typeof handle === 'string' ? timeoutOf(handle) : handle;
  if (timeout instanceof Timeout) timeout.close();
  else node.clearTimeout(handle);
}

const named = <F>(name: string, value: F): F => Object.defineProperty(value as object, 'name', { value: name }) as F;
