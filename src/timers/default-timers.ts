import { createScheduler, warmUp } from '../scheduler/create-scheduler.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createTimers, timersOf } from './create-timers.ts';
import { TimeoutSource } from './timeout-source.ts';

let own: TimeoutSource | undefined;
let given: TimeoutSource | undefined;

/**
 * What the module's functions run on until told otherwise: a scheduler of one shard, since one shard keeps all timers
 * of a face in order. It is made for the first timer, and holds the process no longer than its timers do.
 */
function defaultSource(): TimeoutSource {
  if (given !== undefined) return given;
  own ??= new TimeoutSource(createScheduler({ shards: 'auto' }), 0, 'skip');
  return own;
}

/**
 * From here on the functions of `shardwheel/timers` and `shardwheel/timers/promises` set timers on this scheduler: in
 * tests, on one with a manual clock. Without a scheduler: again on their own. Timers set before stay where they
 * are. Throws InvalidArgumentError for what is no scheduler.
 */
export function useScheduler(scheduler?: Scheduler): void {
  given = scheduler === undefined ? undefined : new TimeoutSource(scheduler, 0, 'skip');
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
