import { outsideContexts } from '../async-context/async-context.ts';
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
    const timers = new DurableTimers<Payloads>(resolved);
    await timers.open();
    return timers;
  });
}
