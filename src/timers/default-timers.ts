import type { Serializable } from 'node:worker_threads';
import { HandleError, InvalidConfigError } from '../errors.ts';
import { hasSharedMemory } from '../memory/shared-words.ts';
import { process } from '../process.ts';
import { requireNode } from '../runtime.ts';
import { connectScheduler } from '../scheduler/connect-scheduler.ts';
import { createScheduler } from '../scheduler/create-scheduler.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import { INSTEAD, resolveTimersOptions, timersOf } from './create-timers.ts';
import { TimeoutSource, type TimersOptions } from './timeout-source.ts';

requireNode('shardwheel/timers', INSTEAD);

let own: TimeoutSource | undefined;
let given: TimeoutSource | undefined;

/** Loaded with the first timer. */
const threads = () => process.getBuiltinModule('node:worker_threads');

/** The key under which a worker thread finds the handle of a scheduler for its timers: see `setEnvironmentData`. */
const SHARED = 'shardwheel';

/** A program that runs unchanged makes no call that could pass options. */
const defaults = optionsNamed(process.env.SHARDWHEEL_TIMERS);

function optionsNamed(name: string | undefined): Required<TimersOptions> {
  if (name === undefined || name === '') return resolveTimersOptions({});
  if (name === 'node') return { missedCalls: 'delay', longDelays: 'warn' };
  throw new InvalidConfigError('SHARDWHEEL_TIMERS', "must be 'node', or not set", name);
}

/**
 * The default source of the module's functions. It has one hint, so that one shard keeps all its timers in order. It is created
 * for the first timer, and holds the process only as long as its timers do.
 * @internal
 */
export function defaultSource(): TimeoutSource {
  if (given !== undefined) return given;
  own ??= new TimeoutSource(threads().isMainThread ? mainScheduler() : workersScheduler(), defaults);
  return own;
}

/** Workers started from now on find its handle, unless the program sets another. */
function mainScheduler(): Scheduler {
  const scheduler = createScheduler({ shards: 'auto' });
  const { getEnvironmentData, setEnvironmentData } = threads();
  const isShared = hasSharedMemory && getEnvironmentData(SHARED) === undefined;
  if (isShared) setEnvironmentData(SHARED, scheduler.share() as object as Serializable);
  return scheduler;
}

/** Creates a client of the process's scheduler, if there is one. Never creates a scheduler with its own thread. */
function workersScheduler(): Scheduler {
  const handle = threads().getEnvironmentData(SHARED) as unknown as SchedulerHandle | undefined;
  try {
    if (handle !== undefined) return connectScheduler(handle);
  } catch (error) {
    if (!(error instanceof HandleError)) throw error; // closed, or this thread already uses it
  }
  return createScheduler({ shards: 0 });
}

/** The sources of this module's timers: none before the first timer. @internal */
export const defaultSources = (): TimeoutSource[] => [own, given].filter((source) => source !== undefined);

/**
 * Makes the functions of `shardwheel/timers` and `shardwheel/timers/promises` set their timers on this scheduler from now on: for
 * tests, on one with a manual clock. Without a scheduler they use their own again. Timers set before stay where they are.
 * @throws InvalidArgumentError if the argument is not a scheduler; InvalidConfigError.
 */
export function useScheduler(scheduler?: Scheduler, options: TimersOptions = {}): void {
  given = scheduler === undefined ? undefined : new TimeoutSource(scheduler, resolveTimersOptions(options));
}

export const timers = timersOf(defaultSource);

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises } = timers;
