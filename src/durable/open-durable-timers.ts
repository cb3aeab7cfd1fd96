import { outsideContexts } from '../async-context/async-context.ts';
import { createScheduler } from '../scheduler/create-scheduler.ts';
import { type DurableOptions, resolveDurableOptions } from './durable-options.ts';
import { DurableTimers } from './durable-timers.ts';

/**
 * Opens timers that outlive this process. Nothing is delivered before `handle`. `Payloads` gives the type of each name's payload:
 * `openDurableTimers<{ 'session-expired': { user: string } }>(…)`. They hold the process until `close()`.
 * @throws InvalidArgumentError, InvalidConfigError, DurableStoreError, by rejection.
 */
export async function openDurableTimers<Payloads extends object = Record<string, unknown>>(
  options: DurableOptions,
): Promise<DurableTimers<Payloads>> {
  const resolved = resolveDurableOptions(options);
  return outsideContexts(async () => {
    const scheduler = resolved.scheduler ?? createScheduler({ shards: 0 });
    const timers = new DurableTimers<Payloads>(resolved, scheduler);
    try {
      await timers.open();
    } catch (error) {
      if (resolved.scheduler === undefined) await scheduler.close();
      throw error;
    }
    return timers;
  });
}
