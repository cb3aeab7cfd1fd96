import { type Lateness, LatenessHistogram } from '../../metrics/lateness-histogram.ts';

export interface DurableStats {
  /** Timers in memory alone. */
  young: number;
  /** Calls of `schedule` and `scheduleAfter`, also those that `ifAbsent` or `keep` left without effect. */
  scheduled: number;
  /** Timers cancelled. */
  cancelled: number;
  /** Deliveries whose handler resolved. */
  delivered: number;
  /** Attempts that have failed: rejected, timed out, or with a payload that cannot be read. As often as `'failed'`. */
  failed: number;
  /** Deliveries that were not the timer's first. */
  retried: number;
  /** Timers that died. */
  died: number;
  /** Timers that were cancelled or delivered without a write. */
  endedYoung: number;
  /** Begin of the handler minus the time at which it was due, ms of the wall clock. */
  lateness: Lateness;
  /** Undefined after `close()`, and while the store does not answer. */
  store: StoreStats | undefined;
}

/** What this process has counted. */
export class DurableCounts {
  scheduled = 0;
  cancelled = 0;
  delivered = 0;
  failed = 0;
  died = 0;
  endedYoung = 0;
  private retried = 0;
  private readonly lateness = new LatenessHistogram();

  /** A handler begins. `late` in ms. */
  began(late: number, attempt: number): void {
    this.lateness.record(late);
    if (attempt > 1) this.retried += 1;
  }

  snapshot(young: number, store: StoreStats | undefined): DurableStats {
    const { scheduled, cancelled, delivered, failed, retried, died, endedYoung } = this;
    const lateness = this.lateness.summary();
    return { young, scheduled, cancelled, delivered, failed, retried, died, endedYoung, lateness, store };
  }
}

export interface StoreStats {
  readonly kind: 'lmdb' | 'bullmq' | 'memory';
  /** Stored timers, those being delivered included. */
  readonly stored: number;
  /** Stored timers that are due and not being delivered. LMDB and the memory store count up to 10,000. */
  readonly overdue: number;
  /** Deliveries under way, in all processes. */
  readonly active: number;
  /** Timers that have ended without success and are kept. */
  readonly dead: number;
  /** Timers in this process's near tier. */
  readonly near: number;
  /** Records that this process has written, moved or removed since it opened the store. */
  readonly writes: number;
}

/** Durable timers, as far as exporters and the dashboard know them. */
export interface DurableStatsSource {
  stats(): Promise<DurableStats>;
}

/** How to read the counts of durable timers: for exporters and the dashboard, which load nothing else of them. */
const sources = new WeakMap<object, () => Promise<DurableStats>>();

/** Makes an object known as durable timers. @internal */
export function addStatsSource(timers: object, read: () => Promise<DurableStats>): void {
  sources.set(timers, read);
}

/** Undefined if the value is no durable timers. @internal */
export const statsSourceOf = (value: unknown): (() => Promise<DurableStats>) | undefined =>
  typeof value === 'object' && value !== null ? sources.get(value) : undefined;
