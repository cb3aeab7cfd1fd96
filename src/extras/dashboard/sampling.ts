import { performance } from 'node:perf_hooks';
import { outsideContexts } from '../../async-context/async-context.ts';
import { LATENESS_BOUNDS } from '../../metrics/lateness-histogram.ts';
import { process } from '../../process.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { SchedulerEvents } from '../../scheduler/scheduler-events.ts';
import type { SchedulerStats } from '../../scheduler/stats.ts';
import { clearInterval, setInterval } from '../../time/native-timers.ts';
import { performanceNow } from '../../unfaked.ts';
import type { DurableStats } from '../durable/durable-stats.ts';
import type { EventStreams } from './event-streams.ts';
import { MAX_POINTS, type Point, type Restarted, type Sample, type Waiting } from './messages.ts';

type LabelStats = SchedulerStats['labels'][number];
type ShardRestart = SchedulerEvents['shard-restart'][0];
/** What each client counts, and a scheduler alone. */
type TimerCounts = Pick<SchedulerStats, keyof SchedulerStats & keyof SchedulerStats['clients'][number]>;

/** ms between two samples. */
export const SAMPLE_INTERVAL_MS = 1000;
/** Maximum of shards whose wheels are in one stream. */
export const SHOWN = 8;
/** Maximum of labels, of clients, and of lanes of a shard that are sent. */
const MAX_ROWS = 64;
const MAX_RESTARTS = 10;

const largest = (labels: readonly LabelStats[]): LabelStats[] =>
  labels.toSorted((a, b) => b.size - a.size).slice(0, MAX_ROWS);

/**
 * Samples what scheduler, durable timers and process count, once a second while there are streams, and sends them the
 * samples. Without streams nothing runs and nothing is asked; earlier samples are kept for the next stream, with a gap
 * between.
 */
export class Sampling {
  readonly points: Point[] = [];
  /** The cost of the last sample, in ms of this thread. */
  private cost = 0;
  private readonly scheduler: Scheduler;
  private readonly streams: EventStreams;
  private readonly askDurable: (() => Promise<DurableStats>) | undefined;
  private durable: DurableStats | undefined;
  private isAskingDurable = false;
  private readonly restarted: Restarted[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** When the pending sample was begun. */
  private asked: number | undefined;
  private run = 0;
  /** The clients of the last sample; none after a pause. */
  private clients: readonly number[] | undefined;

  /** `askDurable`: reads the counts of durable timers, if there are any to show. */
  constructor(scheduler: Scheduler, streams: EventStreams, askDurable: (() => Promise<DurableStats>) | undefined) {
    this.scheduler = scheduler;
    this.streams = streams;
    this.askDurable = askDurable;
    scheduler.on('shard-restart', this.noteRestart);
  }

  /** Samples now, and from then on. */
  start(): void {
    outsideContexts(() => {
      this.timer ??= setInterval(() => void this.sample(), SAMPLE_INTERVAL_MS).unref();
      void this.sample();
    });
  }

  /** The next sample cannot be compared with the last. */
  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.clients = undefined;
  }

  end(): void {
    this.stop();
    this.scheduler.off('shard-restart', this.noteRestart);
  }

  private async sample(): Promise<void> {
    const begun = performanceNow();
    if (this.asked !== undefined) {
      const waiting: Waiting = { seconds: Math.round((begun - this.asked) / 1000) };
      if (waiting.seconds > 0) this.streams.send('waiting', () => JSON.stringify(waiting));
      return;
    }
    this.asked = begun;
    try {
      const taking = this.take();
      const asking = performanceNow() - begun;
      const { wheels, ...sample } = await taking;
      if (this.timer === undefined) throw new Error('there are no streams');
      this.points.push(sample.point);
      if (this.points.length > MAX_POINTS) this.points.shift();
      this.streams.send('sample', (from) => JSON.stringify({ ...sample, wheels: wheels.slice(from, from + SHOWN) }));
      this.cost = asking + performanceNow() - sample.point.time;
    } catch {
      // There are no streams; or a shard failed meanwhile, or the scheduler was closed, which is reported elsewhere.
      this.clients = undefined;
    } finally {
      this.asked = undefined;
    }
  }

  /** Asks the shards. Rejects like `stats()`. */
  async take(): Promise<Sample> {
    const { durable } = this;
    void this.renewDurable(); // not awaited: their store may be far away
    const [stats, wheels] = await Promise.all([this.scheduler.stats(), this.scheduler.wheels()]);
    const point = this.pointOf(stats);
    const clients = stats.clients.slice(0, MAX_ROWS);
    const shown = new Set(largest(clients.flatMap(({ labels }) => labels)));
    return {
      point,
      stats: {
        ...stats,
        labels: largest(stats.labels),
        clients: clients.map((client) => ({ ...client, labels: client.labels.filter((label) => shown.has(label)) })),
      },
      labelCount: stats.labels.length,
      clientCount: stats.clients.length,
      wheels: wheels.map(({ lanes, levels, ...wheel }) => ({
        ...wheel,
        lanes: lanes.slice(0, MAX_ROWS),
        levels: levels.map(({ arcs, ...level }) => ({ ...level, arcs: [...arcs] })),
      })),
      durable,
      restarted: this.restarted,
      memory: process.memoryUsage(),
      cost: this.cost,
    };
  }

  /** Sums all clients if the scheduler is shared and knows them; else the one that is asked is alone. */
  private pointOf(stats: SchedulerStats): Point {
    const time = performanceNow();
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
    if (this.askDurable === undefined || this.isAskingDurable) return;
    this.isAskingDurable = true;
    // they are closed, or their store failed: shown as no answer
    this.durable = await this.askDurable().catch(() => undefined);
    this.isAskingDurable = false;
  }

  private readonly noteRestart = ({ shard, cause, rescheduled }: ShardRestart): void => {
    this.restarted.unshift({ at: Date.now(), shard, cause: cause.message, rescheduled });
    if (this.restarted.length > MAX_RESTARTS) this.restarted.pop();
  };
}
