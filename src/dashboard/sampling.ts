import { performance } from 'node:perf_hooks';
import { outsideContexts } from '../async-context/async-context.ts';
import type { ShardRestart } from '../hosts/shard-host.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { EventStreams } from './event-streams.ts';
import type { Point, RestartView, Waiting } from './messages.ts';
import { Sampler, type WholeSample } from './sampler.ts';

/** ms between two samples. */
export const INTERVAL = 1000;
/** Shards that one stream is shown. */
export const SHOWN = 8;
/** Points that are kept: 5 minutes. */
const MOST_POINTS = 300;
const MOST_RESTARTS = 10;

/**
 * Asks the scheduler once a second while somebody looks, and sends what it says to the streams. While nobody does, nothing runs
 * and nothing is asked; what was sampled before is kept for whoever comes next, with a gap in between.
 */
export class Sampling {
  readonly points: Point[] = [];
  /** Of the sample before, ms of this thread. */
  private cost = 0;
  private readonly scheduler: Scheduler;
  private readonly streams: EventStreams;
  private readonly sampler: Sampler;
  private readonly restarted: RestartView[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** When the sample was begun that has not come yet. */
  private asked: number | undefined;

  constructor(scheduler: Scheduler, streams: EventStreams) {
    this.scheduler = scheduler;
    this.streams = streams;
    this.sampler = new Sampler(scheduler);
    scheduler.on('shard-restart', this.noteRestart);
  }

  /** Samples at once, and from then on. */
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

  /** Nothing more is asked. */
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
      const taking = this.sampler.take(this.restarted);
      const asking = performance.now() - begun;
      const { taken, sample } = await taking;
      if (this.timer === undefined) throw new Error('nobody looks any more');
      this.points.push(sample.point);
      if (this.points.length > MOST_POINTS) this.points.shift();
      this.streams.send('sample', (from) => JSON.stringify({ ...shownFrom(sample, from), cost: this.cost }));
      this.cost = asking + performance.now() - taken;
    } catch {
      // Nobody looks any more; or a shard has failed while it was asked, or the scheduler was closed, which others tell.
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

const shownFrom = (sample: WholeSample, from: number): WholeSample => ({
  ...sample,
  shards: sample.shards.slice(from, from + SHOWN),
});
