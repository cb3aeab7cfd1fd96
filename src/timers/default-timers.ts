import process from 'node:process';
import { getEnvironmentData, isMainThread, type Serializable, setEnvironmentData } from 'node:worker_threads';
import { HandleError, InvalidConfigError } from '../errors.ts';
import { requireNode } from '../runtime.ts';
import { connectScheduler } from '../scheduler/connect-scheduler.ts';
import { createScheduler, warmUp } from '../scheduler/create-scheduler.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SchedulerHandle } from '../sharing/handle.ts';
import { createTimers, INSTEAD, resolveTimersOptions, timersOf } from './create-timers.ts';
import { TimeoutSource, type TimersOptions } from './timeout-source.ts';

requireNode('shardwheel/timers', INSTEAD);

let own: TimeoutSource | undefined;
let given: TimeoutSource | undefined;

/** Where a worker thread finds the handle of a scheduler to run its timers on: see `setEnvironmentData`. */
const SHARED = 'shardwheel';

/** Where a program is run as it stands there is no call to give options to. */
const defaults = optionsNamed(process.env.SHARDWHEEL_TIMERS);

function optionsNamed(name: string | undefined): Required<TimersOptions> {
  if (name === undefined || name === '') return resolveTimersOptions({});
  if (name === 'node') return { missedCalls: 'delay', longDelays: 'warn' };
  throw new InvalidConfigError('SHARDWHEEL_TIMERS', "must be 'node', or not set", name);
}

/**
 * What the module's functions run on until told otherwise: on one hint, since one shard keeps all timers of a face in order.
 * It is made for the first timer, and holds the process no longer than its timers do.
 */
export function defaultSource(): TimeoutSource {
  if (given !== undefined) return given;
  own ??= new TimeoutSource(isMainThread ? mainScheduler() : workersScheduler(), 0, defaults);
  return own;
}

/** Workers that are started from here on find it, unless the program offers them another. */
function mainScheduler(): Scheduler {
  const scheduler = createScheduler({ shards: 'auto' });
  if (getEnvironmentData(SHARED) === undefined) setEnvironmentData(SHARED, scheduler.share() as object as Serializable);
  return scheduler;
}

/** A client of the process's scheduler, where there is one to connect to. Never one with a thread of its own. */
function workersScheduler(): Scheduler {
  const handle = getEnvironmentData(SHARED) as unknown as SchedulerHandle | undefined;
  try {
    if (handle !== undefined) return connectScheduler(handle);
  } catch (error) {
    if (!(error instanceof HandleError)) throw error; // closed, or this thread uses it already
  }
  return createScheduler({ shards: 0 });
}

/** Where the timers of this module come from: nowhere before the first. */
export const defaultSources = (): TimeoutSource[] => [own, given].filter((source) => source !== undefined);

/**
 * From here on the functions of `shardwheel/timers` and `shardwheel/timers/promises` set timers on this scheduler: in
 * tests, on one with a manual clock. Without a scheduler: again on their own. Timers set before stay where they
 * are. Throws InvalidArgumentError for what is no scheduler, InvalidConfigError.
 */
export function useScheduler(scheduler?: Scheduler, options: TimersOptions = {}): void {
  given = scheduler === undefined ? undefined : new TimeoutSource(scheduler, 0, resolveTimersOptions(options));
}

export const timers = timersOf(defaultSource);

// As the scheduler's own code: else the first timeout of a program is some ms late.
warmUp((scheduler) => {
  const { setTimeout } = createTimers(scheduler);
  setTimeout(() => undefined, 1e6)
    .refresh()
    .unref()
    .close();
});
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises } = timers;
