import type { EventEmitter } from 'node:events';
import { guard, warn } from '../../../report-error.ts';
import type { Scheduler } from '../../../scheduler/scheduler.ts';
import { messageOf, show } from '../../../show.ts';
import { performanceNow } from '../../../unfaked.ts';
import { warnOnce } from '../../../warn-once.ts';
import { DurableCounts } from '../durable-stats.ts';
import { type DurableTimersEvents, type RecoveryProgress, shownDead } from '../durable-timer.ts';
import type { DeadTimer, Ending, StoredTimer } from '../stored-timer.ts';
import { Alarms } from '../unstored/alarms.ts';
import type { WallClock } from '../wall-clock.ts';
import type { Handling } from './handler-run.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** ms between two reports of the store's failures. */
const WARNING_PAUSE_MS = 1000;

/** The options of durable timers that their parts and stores go by. */
export interface DurableSettings {
  readonly clock: WallClock;
  readonly scheduler: Scheduler | undefined;
  readonly horizon: number;
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  readonly nearLimit: number;
  readonly youngLimit: number;
}

/** What the parts of durable timers share with each other, and with the store. */
export class DurableCore {
  readonly settings: DurableSettings;
  readonly clock: WallClock;
  readonly alarms: Alarms;
  readonly counts = new DurableCounts();
  readonly handlers = new Map<string, Handling>();
  private readonly events: EventEmitter<DurableTimersEvents>;
  private warnedAt = Number.NEGATIVE_INFINITY;

  /** `events` tells the user. */
  constructor(settings: DurableSettings, events: EventEmitter<DurableTimersEvents>) {
    this.settings = settings;
    this.clock = settings.clock;
    this.alarms = new Alarms(settings.scheduler, settings.clock);
    this.events = events;
  }

  /** Most handlers of a name that run at a time. */
  concurrencyOf(name: string): number {
    return this.handlers.get(name)?.concurrency ?? this.settings.concurrency;
  }

  /** What failed is tried again. Told at most once a second: a store that cannot be reached fails for every timer. */
  readonly failed = (error: unknown): void => {
    const now = performanceNow();
    if (now - this.warnedAt < WARNING_PAUSE_MS) return;
    this.warnedAt = now;
    warn(this.events, error as Error);
  };

  attemptFailed({ name, key, attempts: attempt }: StoredTimer, error: unknown, ending: Ending): void {
    const retryAt = ending.kind === 'again' ? ending.timer.due : undefined;
    this.counts.failed += 1;
    this.warnOfUnheard(name, error);
    guard(this.events, () => this.events.emit('failed', { name, key, attempt, error, retryAt }));
  }

  died(timer: DeadTimer): void {
    this.counts.died += 1;
    this.warnOfUnheard(timer.name, timer.reason);
    guard(this.events, () => this.events.emit('dead', shownDead(timer)));
  }

  private warnOfUnheard(name: string, error: unknown): void {
    if (this.events.listenerCount('failed') + this.events.listenerCount('dead') > 0) return;
    const what = `An attempt of a timer of ${show(name)} has failed: ${messageOf(error)}`;
    const remedy = "Nobody listens: durable.on('failed', ({ name, key, attempt, error, retryAt }) => …), or 'dead'";
    warnOnce('SHARDWHEEL_FAILED', () => `${what}. ${remedy}`, name);
  }

  /** Progress of a recovery that takes longer than two seconds, and its end. */
  recovering(progress: RecoveryProgress): void {
    guard(this.events, () => this.events.emit('recovery', progress));
  }
}
