import { outsideContexts } from '../async-context/async-context.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import type { CoordinatorEvents } from './coordinator.ts';
import { resolveOptions, type SchedulerOptions } from './options.ts';
import { Scheduler } from './scheduler.ts';
import { startCoordinator } from './start-coordinator.ts';
import { internalsOf } from './timer-calls.ts';

/**
 * Makes a scheduler. Timers may be scheduled at once, before any thread is up.
 * Throws InvalidConfigError or InvalidArgumentError for options that cannot work.
 */
export function createScheduler(options?: SchedulerOptions): Scheduler {
  const resolved = resolveOptions(options);
  const coordinator = (layout: TimerIdLayout, events: CoordinatorEvents) => startCoordinator(resolved, layout, events);
  // Outside: it serves everybody's timers, and would hold this call's context.
  return outsideContexts(() => new Scheduler({ ...resolved, coordinator }));
}

const nothing = (): void => undefined;

/**
 * Takes some timers of a small scheduler through their lives, in this very call, so that the code on their way is compiled
 * and what Node makes at first use is made: else the first timer of a program is 8 to 12 ms late. `use` adds its own.
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
      client.clock.set(20); // the manual one alone comes to the deadline
      client.publish(); // fires
      client.loop.turn(); // delivers
    } finally {
      void scheduler.close();
    }
  }
}

warmUp(nothing); // as the package is loaded, for some ms of that time
