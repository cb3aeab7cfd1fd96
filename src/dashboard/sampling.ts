import { performance } from 'node:perf_hooks';
import { outsideContexts } from '../async-context/async-context.ts';
import type { DurableStats } from '../durable/durable-stats.ts';
import type { ShardRestart } from '../hosts/restart-policy.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { EventStreams } from './event-streams.ts';
import { MOST_POINTS, type Point, type Restarted, type Sample, type Waiting } from './messages.ts';
import { Sampler } from './sampler.ts';

/** ms between two samples. */
export const INTERVAL = 1000;
/** Maximum of shards whose wheels are in one stream. */
export const SHOWN = 8;
const MOST_RESTARTS = 10;

/**
 * Samples the scheduler once a second while there are streams, and sends them the samples. Without streams nothing runs and
 * nothing is asked; earlier samples are kept for the next stream, with a gap between.
 */
export class Sampling {
  readonly points: Point[] = [];
  /** The cost of the last sample, in ms of this thread. */
  private cost = 0;
  private readonly scheduler: Scheduler;
  private readonly streams: EventStreams;
  private readonly sampler: Sampler;
  private readonly restarted: Restarted[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** When the pending sample was begun. */
  private asked: number | undefined;

  /** `durable`: reads the counts of durable timers, if there are any to show. */
  constructor(scheduler: Scheduler, streams: EventStreams, durable: (() => Promise<DurableStats>) | undefined) {
    this.scheduler = scheduler;
    this.streams = streams;
    this.sampler = new Sampler(scheduler, durable);
    scheduler.on('shard-restart', this.noteRestart);
  }

  /** Samples now, and from then on. */
  start(): void {
    outsideContexts(() => {
      this.timer ??= setInterval(this.sample, INTERVAL).unref();
      this.sample();
    });
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.sampler.pause();
  }

  /** Ends the sampling. */
  end(): void {
    this.stop();
    this.scheduler.off('shard-restart', this.noteRestart);
  }

  private readonly sample = (): void => {
    if (this.asked === undefined) void this.takeSample();
    else this.sendWaiting(this.asked);
  };

  private sendWaiting(since: number): void {
    const waiting: Waiting = { seconds: Math.round((performance.now() - since) / 1000) };
    if (waiting.seconds > 0) this.streams.send('waiting', () => JSON.stringify(waiting));
  }

  private async takeSample(): Promise<void> {
    const begun = performance.now();
    this.asked = begun;
    try {
      const taking = this.sampler.take();
      const asking = performance.now() - begun;
      const { taken, sample } = await taking;
      if (this.timer === undefined) throw new Error('there are no streams');
      this.points.push(sample.point);
      if (this.points.length > MOST_POINTS) this.points.shift();
      const whole: Sample = { ...sample, restarted: this.restarted, cost: this.cost };
      this.streams.send('sample', (from) => JSON.stringify(shownFrom(whole, from)));
      this.cost = asking + performance.now() - taken;
    } catch {
      // There are no streams; or a shard failed meanwhile, or the scheduler was closed, which is reported elsewhere.
      this.sampler.pause();
    } finally {
      this.asked = undefined;
    }
  }

  private readonly noteRestart = ({ shard, cause, rescheduled }: ShardRestart): void => {
    this.restarted.unshift({ at: Date.now(), shard, cause: cause.message, rescheduled });
    if (this.restarted.length > MOST_RESTARTS) this.restarted.pop();
  };
}

const shownFrom = (sample: Sample, from: number): Sample => ({
  ...sample,
  wheels: sample.wheels.slice(from, from + SHOWN),
});
