import { createScheduler, type Scheduler, type SchedulerOptions } from 'shardwheel';

/** A scheduler whose time the test moves, and whose threads are up. */
export async function manual(options: SchedulerOptions): Promise<Scheduler> {
  const scheduler = createScheduler({ clock: 'manual', capacity: 4096, ...options });
  await scheduler.ready;
  return scheduler;
}
