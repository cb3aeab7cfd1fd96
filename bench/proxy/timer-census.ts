import type { ClientStats, Scheduler, SchedulerStats } from 'shardwheel';

/** What one thread has done with timers: by itself, or as the owner of the scheduler sees it. */
export type TimerCounts = Pick<
  ClientStats & SchedulerStats,
  'size' | 'scheduled' | 'rescheduled' | 'cancelled' | 'lateness'
>;

/** More often, and the questions would show in the CPU that is measured. */
const SAMPLE_EVERY_MS = 250;

/** The timers of all threads, as the owner of their scheduler sees them. */
export class TimerCensus {
  /** Live timers of all threads, by the latest sample and by the one that saw most. */
  live = 0;
  peak = 0;
  readonly #scheduler: Scheduler;
  readonly #sampling: NodeJS.Timeout;
  /** The latest sample of each that was ever seen. */
  readonly #byThread = new Map<number, TimerCounts>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#sampling = setInterval(() => void this.#sample(), SAMPLE_EVERY_MS);
  }

  /** Of a thread that may be gone; undefined if it was never seen. */
  latestOf(thread: number): TimerCounts | undefined {
    return this.#byThread.get(thread);
  }

  stop(): void {
    clearInterval(this.#sampling);
  }

  async #sample(): Promise<void> {
    const { clients } = await this.#scheduler.stats();
    for (const client of clients) this.#byThread.set(client.thread, client);
    this.live = clients.reduce((sum, { size }) => sum + size, 0);
    this.peak = Math.max(this.peak, this.live);
  }
}
