import type { ShardWheel } from '../../scheduler/shard-wheels.ts';
import type { SchedulerStats } from '../../scheduler/stats.ts';
import type { DurableStats } from '../durable/durable-stats.ts';

/**
 * What the dashboard's server sends, as server-sent events whose data are JSON:
 *
 *    hello    once, first: Hello
 *    sample   each `interval` ms: Sample
 *    waiting  a shard has not answered for `seconds`: Waiting
 *    end      the last one: Farewell
 *
 * Only facts: rates and percentiles of a time are differences, which `page/model.ts` takes where they are shown. Times
 * are ms, sizes bytes.
 */
export const PROTOCOL = 3;

/** Points that are kept: five minutes. */
export const MAX_POINTS = 300;

/** What JSON makes of a value. Infinity, the bound of a last bucket, becomes null. */
type Sent<T> = T extends Int32Array ? number[] : T extends object ? { [K in keyof T]: Sent<T[K]> } : T;

export interface Hello {
  protocol: number;
  /** Versions of shardwheel and of Node. */
  version: string;
  node: string;
  pid: number;
  /** ms between two samples. */
  interval: number;
  shards: number;
  /** The first shard whose wheel this stream shows, and their maximum. */
  from: number;
  shown: number;
  /** Bounds of the buckets of lateness in ms; the last bucket has none. */
  bounds: number[];
  /** Of the samples so far, the oldest first. */
  points: Point[];
}

type CountName = 'size' | 'scheduled' | 'rescheduled' | 'cancelled' | 'delivered' | 'stale';

/** The counts of all present clients, and of the process, at one time: what is kept of each sample. */
export interface Point extends Pick<SchedulerStats, CountName> {
  /** ms since the epoch, and of a clock that never falls. */
  at: number;
  time: number;
  /** Points can be compared if this is equal: nobody looked in between, or a client has left, if it is not. */
  run: number;
  /** Cumulative counts by bucket. */
  late: { buckets: number[]; sum: number; max: number };
  /** CPU time of the process in µs; time for which this event loop was active and idle, in ms. */
  cpu: number;
  active: number;
  idle: number;
}

export interface Sample {
  point: Point;
  /** With the 64 largest labels and the first 64 clients, and of these clients the 64 largest labels in all. */
  stats: Sent<SchedulerStats>;
  labelCount: number;
  clientCount: number;
  /** The wheels of the shards that this stream shows, each with its first 64 lanes. */
  wheels: Sent<ShardWheel>[];
  /** The latest answer of durable timers; none if the dashboard shows none, or they do not answer. */
  durable?: Sent<DurableStats>;
  /** The latest restarts, the newest first. */
  restarted: Restarted[];
  memory: NodeJS.MemoryUsage;
  /** ms of the event loop that the last sample took. */
  cost: number;
}

export interface Restarted {
  at: number;
  shard: number;
  cause: string;
  rescheduled: number;
}

export interface Waiting {
  seconds: number;
}

export interface Farewell {
  reason: string;
}
