import { performance } from 'node:perf_hooks';
import type { DurableStats } from '../durable/durable-stats.ts';
import { LATENESS_BOUNDS } from '../metrics/lateness-histogram.ts';
import { process } from '../process.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SchedulerStats } from '../scheduler/stats.ts';
import type { TimerCounts } from '../scheduler/stats-interval.ts';
import type { Point, Sample } from './messages.ts';

/** Maximum of labels, of clients, and of lanes of a shard that are sent. */
const MOST_ROWS = 64;

/** Reads what scheduler, durable timers and process count. */
export class Sampler {
  private readonly scheduler: Scheduler;
  private readonly askDurable: (() => Promise<DurableStats>) | undefined;
  private durable: DurableStats | undefined;
  private isAsking = false;
  private run = 0;
  /** The clients of the last sample; none after a pause. */
  private clients: readonly number[] | undefined;

  /** `askDurable`: reads the counts of durable timers, if there are any to show. */
  constructor(scheduler: Scheduler, askDurable: (() => Promise<DurableStats>) | undefined) {
    this.scheduler = scheduler;
    this.askDurable = askDurable;
  }

  /** The next sample cannot be compared with the last. */
  pause(): void {
    this.clients = undefined;
  }

  /** Asks the shards. `taken`: when they had answered. Rejects like `stats()`. */
  async take(): Promise<{ taken: number; sample: Omit<Sample, 'restarted' | 'cost'> }> {
    const { durable } = this;
    void this.renewDurable(); // not awaited: their store may be far away
    const [stats, wheels] = await Promise.all([this.scheduler.stats(), this.scheduler.wheels()]);
    const taken = performance.now();
    const labels = stats.labels.toSorted((a, b) => b.size - a.size).slice(0, MOST_ROWS);
    const sample = {
      point: this.pointOf(stats, taken),
      stats: { ...stats, labels, clients: stats.clients.slice(0, MOST_ROWS) },
      labelCount: stats.labels.length,
      clientCount: stats.clients.length,
      wheels: wheels.map(({ lanes, levels, ...wheel }) => ({
        ...wheel,
        lanes: lanes.slice(0, MOST_ROWS),
        levels: levels.map(({ arcs, ...level }) => ({ ...level, arcs: [...arcs] })),
      })),
      durable,
      memory: process.memoryUsage(),
    };
    return { taken, sample };
  }

  /** Sums all clients if the scheduler is shared and knows them; else the one that is asked is alone. */
  private pointOf(stats: SchedulerStats, time: number): Point {
    const present = stats.clients.map(({ client }) => client);
    if (!this.clients?.every((client) => present.includes(client))) this.run += 1;
    this.clients = present;
    const all: readonly TimerCounts[] = present.length > 0 ? stats.clients : [stats];
    const sum = (of: (counts: TimerCounts) => number): number => all.reduce((total, each) => total + of(each), 0);
    const { user, system } = process.cpuUsage();
    const { active, idle } = performance.eventLoopUtilization();
    return {
      at: Date.now(),
      time,
      run: this.run,
      size: sum(({ size }) => size),
      scheduled: sum(({ scheduled }) => scheduled),
      rescheduled: sum(({ rescheduled }) => rescheduled),
      cancelled: sum(({ cancelled }) => cancelled),
      delivered: sum(({ delivered }) => delivered),
      stale: sum(({ stale }) => stale),
      late: {
        buckets: LATENESS_BOUNDS.map((_, bucket) => sum(({ lateness }) => lateness.buckets[bucket].count)),
        sum: sum(({ lateness }) => lateness.sum),
        max: Math.max(...all.map(({ lateness }) => lateness.max)),
      },
      cpu: user + system,
      active,
      idle,
    };
  }

  /** One question at a time. No answer after a rejection, until there is one again. */
  private async renewDurable(): Promise<void> {
    if (this.askDurable === undefined || this.isAsking) return;
    this.isAsking = true;
    this.durable = await this.askDurable().catch(() => undefined); // they are closed, or their store failed: shown as no answer
    this.isAsking = false;
  }
}
