import type { EventEmitter } from 'node:events';
import { guard, warn } from '../scheduler/report-error.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { Alarms } from './alarms.ts';
import { DurableCounts } from './durable-stats.ts';
import { type DurableHandler, type DurableTimersEvents, type RecoveryProgress, shownDead } from './durable-timer.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { DeadTimer } from './stored-timer.ts';

/** ms between two reports of the store's failures. */
const WARNING_PAUSE = 1000;

/** The options of durable timers that their parts and stores go by. */
export interface DurableSettings {
  readonly scheduler: Scheduler | undefined;
  readonly horizon: number;
  readonly concurrency: number;
  readonly retry: RetryPolicy;
  readonly nearLimit: number;
  readonly youngLimit: number;
}

/** What the parts of durable timers share with each other, and with the store. */
export class DurableHost {
  readonly settings: DurableSettings;
  readonly alarms: Alarms;
  readonly counts = new DurableCounts();
  readonly handlers = new Map<string, DurableHandler<unknown>>();
  private readonly events: EventEmitter<DurableTimersEvents>;
  private warnedAt = Number.NEGATIVE_INFINITY;

  /** `events` tells the user. */
  constructor(settings: DurableSettings, events: EventEmitter<DurableTimersEvents>) {
    this.settings = settings;
    this.alarms = new Alarms(settings.scheduler);
    this.events = events;
  }

  /** What failed is tried again. Told at most once a second: a store that cannot be reached fails for every timer. */
  readonly failed = (error: unknown): void => {
    const now = performance.now();
    if (now - this.warnedAt < WARNING_PAUSE) return;
    this.warnedAt = now;
    warn(this.events, error as Error);
  };

  died(timer: DeadTimer): void {
    this.counts.died += 1;
    guard(this.events, () => this.events.emit('dead', shownDead(timer)));
  }

  /** Progress of a recovery that takes longer than two seconds, and its end. */
  recovering(progress: RecoveryProgress): void {
    this.events.emit('recovery', progress);
  }
}
