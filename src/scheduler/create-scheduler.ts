import { outsideContexts } from '../async-context/async-context.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { resolveOptions, type SchedulerOptions } from './options.ts';
import { Scheduler } from './scheduler.ts';
import { startCoordinator } from './start-coordinator.ts';
import { internalsOf } from './timer-calls.ts';

/**
 * Creates a scheduler. Timers may be scheduled at once, before any thread is up.
 * @throws InvalidConfigError, InvalidArgumentError for invalid options.
 */
export function createScheduler(options?: SchedulerOptions): Scheduler {
  const resolved = resolveOptions(options);
  const coordinator = (layout: TimerIdLayout, events: CoordinatorEvents) => startCoordinator(resolved, layout, events);
  // Outside all contexts: the scheduler serves all callers, and would keep the context of this call alive.
  return outsideContexts(() => new Scheduler({ ...resolved, coordinator }));
}

const nothing = (): void => undefined;

/**
 * Runs some timers of a small scheduler through their lives within this call, so that V8 compiles the code and Node sets up what
 * it sets up at first use. Otherwise the first timer of a program is 8 to 12 ms late. `use` adds its own timers.
 */
export function warmUp(use: (scheduler: Scheduler) => void): void {
  for (const clock of ['manual', 'monotonic'] as const) {
    const scheduler = createScheduler({ shards: 0, capacity: 16, clock }).unref();
    const { client } = internalsOf(scheduler);
    client.delivery.hasTicks = false;
    try {
      const moved = scheduler.scheduleAfter(0, 1e6, nothing, 0);
      scheduler.rescheduleAfter(moved, 2e6);
      scheduler.cancel(moved);
      scheduler.scheduleAfter(0, 10, nothing, scheduler);
      use(scheduler);
      client.loop.turn(); // publishes; the inline shard files, and sets its native timer
      client.clock.set(20); // only the manual clock reaches the deadline
      client.publish(); // fires
      client.loop.turn(); // delivers
    } finally {
      void scheduler.close();
    }
  }
}

warmUp(nothing); // while the package is loaded; takes some ms
