import type { Lateness } from '../metrics/lateness-histogram.ts';
import type { ShardCounters } from '../shard/shard.ts';
import type { Serving } from './auto-shard.ts';
import type { Coordinator } from './coordinator.ts';
import { hotShards, type StatsWarning } from './hot-shards.ts';
import type { TimerBook } from './timer-book.ts';

export interface ShardStats extends ShardCounters {
  shard: number;
  /** Live timers placed on this shard. */
  size: number;
  capacity: number;
  /** Slots out of `capacity` that are used no more, because all ids that they can give have been given. */
  retired: number;
  /** Slots that have ever been in use: as many as were live at a time, and those that are retired. */
  touched: number;
  /** Times that a thread of this shard died, whether it had been up or not, or that it failed inline. */
  deaths: number;
  /** Times that another has taken its place: fewer, where several died before one was up. */
  restarts: number;
  /** The shard runs in the calling thread: see `serving`, and until its thread is up. */
  inline: boolean;
}

/** Counts since the scheduler's start, unless said otherwise. */
export interface SchedulerStats {
  /** Live timers now. */
  size: number;
  scheduled: number;
  rescheduled: number;
  cancelled: number;
  delivered: number;
  /** Fired records whose timer had been cancelled or moved while they were on their way. */
  stale: number;
  /** Time of delivery minus deadline over all deliveries, ms. */
  lateness: Lateness;
  /** Who serves the shards, since when and why. */
  serving: Serving;
  /** Empty after close(). */
  shards: ShardStats[];
  /** What costs more than it need; empty as a rule. */
  warnings: StatsWarning[];
}

/** What client and shards have counted. */
export async function collectStats(coordinator: Coordinator, book: TimerBook): Promise<SchedulerStats> {
  const { client } = coordinator;
  const shards = await coordinator.shardStats().catch((error) => {
    if (client.isClosed) return [];
    throw error;
  });
  return {
    size: client.size,
    scheduled: book.scheduled,
    rescheduled: book.rescheduled,
    cancelled: book.cancelled,
    delivered: client.delivery.delivered,
    stale: client.delivery.stale,
    lateness: client.lateness.summary(),
    serving: coordinator.serving,
    shards,
    warnings: hotShards(shards.map((shard) => shard.size)),
  };
}
