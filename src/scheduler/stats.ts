import type { Client } from '../client/client.ts';
import type { Label } from '../client/label.ts';
import type { Serving } from '../hosts/auto-shard.ts';
import type { Lateness } from '../metrics/lateness-histogram.ts';
import type { ShardCounters } from '../shard/shard.ts';
import { hotShards, type StatsWarning } from './hot-shards.ts';
import type { ClientStats } from './sharing.ts';
import { countsOf, type TimerCounts } from './timer-counts.ts';

/** What a client knows of a shard without asking it. */
export interface KnownOfShard {
  shard: number;
  /** Live timers placed on this shard. */
  size: number;
  capacity: number;
  /** Slots out of `capacity` that are used no more, because all ids that they can give have been given. */
  retired: number;
  /** Slots that have ever been in use: as many as were live at a time, and those that are retired. */
  highWater: number;
  /** Times that a thread of this shard died, whether it had been up or not, or that it failed inline. */
  deaths: number;
  /** Times that another has taken its place: fewer, where several died before one was up. */
  restarts: number;
  /** The shard runs in the calling thread: see `serving`, and until its thread is up. */
  inline: boolean;
}

export interface ShardStats extends KnownOfShard, ShardCounters {}

/** What a client has counted of the timers with a label. */
export interface LabelStats {
  label: string;
  /** Of scaled timers: the least that each is given, ms; undefined where they are not scaled. */
  min: number | undefined;
  /** Of the time beyond the minimum, how much scaled timers are given now: 0 to 1. */
  factor: number;
  /** Live timers now. */
  size: number;
  scheduled: number;
  cancelled: number;
  delivered: number;
  lateness: Lateness;
}

/** Counts of this client, and what serves it. */
export interface SchedulerStats extends TimerCounts {
  /** This client's number among those of a shared scheduler; 0 for the owner, and where nothing is shared. */
  client: number;
  /** How much later timers may come, where their call does not say otherwise: the option, in whole ticks, ms. */
  slack: number;
  /** Turns of this client's event loop that delivered timers: how many come together, slack decides. */
  wakes: number;
  /** What serves the shards, since when and why. */
  serving: Serving;
  /** Empty after close(). */
  shards: ShardStats[];
  /** Once the scheduler is shared, and by its owner alone: all of its clients, the owner first. Else empty. */
  clients: ClientStats[];
  /** This client's timers by label, in the order of the labels' first use. */
  labels: LabelStats[];
  /** What costs more than it need; empty as a rule. */
  warnings: StatsWarning[];
}

/** Where the counts come from. */
export interface StatsSource {
  readonly client: Client;
  readonly number: number;
  readonly serving: Serving;
  shardStats(): Promise<ShardStats[]>;
  clientStats(): ClientStats[];
}

function statsOf(label: Label, isClosed: boolean): LabelStats {
  const { name, min, factor, size, scheduled, delivered, lateness } = label;
  const cancelled = scheduled - delivered - size;
  const live = isClosed ? 0 : size;
  return { label: name, min, factor, size: live, scheduled, cancelled, delivered, lateness };
}

/** What client and shards have counted. */
export async function collectStats(coordinator: StatsSource): Promise<SchedulerStats> {
  const { client } = coordinator;
  const shards = await coordinator.shardStats().catch((error) => {
    if (client.isClosed) return [];
    throw error;
  });
  return statsWith(coordinator, shards);
}

/** The same, where what the shards say is known. */
export function statsWith(coordinator: StatsSource, shards: ShardStats[]): SchedulerStats {
  const { client } = coordinator;
  return {
    ...countsOf(client),
    client: coordinator.number,
    slack: client.scale.timeOf(client.time.slack),
    wakes: client.wakes,
    serving: coordinator.serving,
    shards,
    clients: client.isClosed ? [] : coordinator.clientStats(),
    labels: client.labels.all.map((label) => statsOf(label, client.isClosed)),
    warnings: hotShards(shards.map((shard) => shard.size)),
  };
}
