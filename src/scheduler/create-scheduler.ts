import { outsideContexts } from '../async-context/async-context.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { resolveOptions, type SchedulerOptions } from './options.ts';
import { ownClient } from './own-client.ts';
import { Scheduler } from './scheduler.ts';

/**
 * Creates a scheduler. Timers may be scheduled at once, before any thread is up.
 * @throws InvalidConfigError, InvalidArgumentError for invalid options.
 */
export function createScheduler(options?: SchedulerOptions): Scheduler {
  const resolved = resolveOptions(options);
  const coordinator = (events: CoordinatorEvents) => ownClient(resolved, events);
  // Outside all contexts: the scheduler serves all callers, and would keep the context of this call alive.
  return outsideContexts(() => new Scheduler({ ...resolved, coordinator }));
}
