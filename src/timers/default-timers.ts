import type { Client } from '../client/client.ts';
import { requireNode } from '../runtime.ts';
import { createScheduler } from '../scheduler/create-scheduler.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { INSTEAD, resolveTimersOptions, timersOf } from './create-timers.ts';
import { TimeoutSource, type TimersOptions } from './timeout-source.ts';
import { timersMode } from './timers-mode.ts';

requireNode('shardwheel/timers', INSTEAD);

/** Made for the first timer. It holds the process only as long as its timers do. */
let scheduler: Scheduler | undefined;
/** With our behaviour where there is a choice, and with Node's. */
const own: [TimeoutSource | undefined, TimeoutSource | undefined] = [undefined, undefined];
let given: TimeoutSource | undefined;

/**
 * The source of timers that no program has given a scheduler for: those of a registered thread, whatever `useScheduler`
 * says. `isAsNodes`: with Node's behaviour where there is a choice.
 * @internal
 */
export function ownSource(isAsNodes: boolean): TimeoutSource {
  const at = isAsNodes ? 1 : 0;
  const source = own[at];
  if (source !== undefined) return source;
  scheduler ??= createScheduler({ shards: 0 });
  const options = isAsNodes ? ({ missedCalls: 'delay', longDelays: 'warn' } as const) : {};
  const made = new TimeoutSource(scheduler, resolveTimersOptions(options));
  own[at] = made;
  return made;
}

/** The clients of these timers: none before the first timer. @internal */
export const defaultClients = (): Client[] => [
  ...new Set([...own, given].filter((source) => source !== undefined).map(({ client }) => client)),
];

/**
 * Makes the functions of `shardwheel/timers` and `shardwheel/timers/promises` set their timers on this scheduler from
 * now on: for tests, on one with a manual clock. Without a scheduler they use their own again. Timers set before stay
 * where they are.
 * @throws InvalidArgumentError if the argument is not a scheduler; InvalidConfigError for an option;
 * SchedulerClosedError.
 */
export function useScheduler(scheduler?: Scheduler, options: TimersOptions = {}): void {
  given = scheduler === undefined ? undefined : new TimeoutSource(scheduler, resolveTimersOptions(options));
}

export const timers = timersOf(() =>
  timersMode === 'off' && given === undefined ? undefined : (given ?? ownSource(timersMode === 'node')),
);

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises } = timers;
