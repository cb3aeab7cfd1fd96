import { show } from '../../../show.ts';
import { clearInterval, setInterval } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import { warnOnce } from '../../../warn-once.ts';
import type { DurableStore } from '../durable-store.ts';
import type { DurableCore } from './durable-core.ts';

/** ms between two looks. */
const CHECK_INTERVAL_MS = 5000;
/** ms by which a timer is overdue that is warned of, and for which a process has time to handle its names. */
const OVERDUE_MS = 10_000;

/**
 * Warns of stored timers that are overdue, and that this process has no handler for: once of each name in a process.
 */
export class UnhandledNames {
  private readonly core: DurableCore;
  private readonly store: DurableStore;
  private readonly openedAt = performanceNow();
  private watch: NodeJS.Timeout | undefined;

  constructor(core: DurableCore, store: DurableStore) {
    this.core = core;
    this.store = store;
  }

  open(): void {
    // calls and deliveries tell of a failed store
    this.watch = setInterval(() => void this.look().catch(() => undefined), CHECK_INTERVAL_MS);
    this.watch.unref();
  }

  close(): void {
    clearInterval(this.watch);
  }

  private async look(): Promise<void> {
    if (performanceNow() - this.openedAt < OVERDUE_MS) return;
    const names = await this.store.overdueNames(this.core.clock.now() - OVERDUE_MS);
    for (const name of names) {
      if (!this.core.handlers.has(name)) warnOfUnhandled(name);
    }
  }
}

function warnOfUnhandled(name: string): void {
  const text = `durable.handle(${show(name)}, …)`;
  const what = `Timers of ${show(name)} are overdue by more than ${OVERDUE_MS / 1000} s`;
  const remedy = `Call ${text} here, or start the process that does`;
  warnOnce('SHARDWHEEL_UNHANDLED', () => `${what}, and this process has no handler for them. ${remedy}`, name);
}
