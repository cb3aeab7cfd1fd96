import type { Coordinator } from '../assembly/coordinator.ts';
import type { ClientStats } from '../assembly/sharing.ts';
import { countsOf, type TimerCounts } from '../assembly/stats-interval.ts';
import { type LabelStats, labelStats, ownLabelStats } from '../client/labels/label-counts.ts';
import type { LaneHost } from '../hosts/lane-host.ts';
import type { Serving } from '../hosts/serving.ts';
import type { ShardCounters } from '../shard/shard.ts';
import { type RegistrationState, registered } from '../time/native-timers.ts';
import { Untaken } from './untaken.ts';

/** A use of the scheduler that costs performance and that its user can correct. */
export interface StatsWarning {
  code: 'HOT_SHARD';
  shard: number;
  message: string;
}

/** Below this number of live timers no warning is given. */
const MIN_SIZE = 10_000;
/** A shard may hold this many times the mean of the others. Hints spread evenly: chance alone does not reach this. */
const FACTOR = 4;

/**
 * Returns a warning for each shard with far more live timers than the others: many timers share few hints, and so one wheel.
 * @internal
 */
function hotShards(sizes: readonly number[]): StatsWarning[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const warnings: StatsWarning[] = [];
  for (const [shard, size] of sizes.entries()) {
    if (sizes.length < 2 || size < MIN_SIZE || size <= (FACTOR * (total - size)) / (sizes.length - 1)) continue;
    const message = `Shard ${shard} holds ${size} of ${total} live timers: too few different hints, or one that is used for most`;
    warnings.push({ code: 'HOT_SHARD', shard, message });
  }
  return warnings;
}

/** What a client knows of a shard without asking it. */
export interface KnownOfShard {
  shard: number;
  /** Live timers placed on this shard. */
  size: number;
  capacity: number;
  /** Slots of `capacity` that are no longer used because all their ids have been given. */
  retired: number;
  /** Slots that have ever been in use: the peak of live timers, and the retired slots. */
  highWater: number;
  /** How often a thread of this shard died, up or not yet up, or the shard failed inline. */
  deaths: number;
  /** How often a successor has taken over: less often than `deaths` if several died before one was up. */
  restarts: number;
  /** Whether the shard runs in the calling thread: see `serving`; and until its thread is up. */
  inline: boolean;
}

export interface ShardStats extends KnownOfShard, ShardCounters {}

/** Counts of this client, and what serves it. */
export interface SchedulerStats extends TimerCounts {
  /** This client's number in a shared scheduler; 0 for the owner, and if nothing is shared. */
  client: number;
  /** How much later timers may come by default, in ms: the option, rounded to whole ticks. */
  slack: number;
  /** Turns of this client's event loop that delivered timers. Slack makes them fewer. */
  wakes: number;
  /** Calls of repeating timers that were not made, since the promise that the one before had returned was pending: `overlap: false`. */
  overlapped: number;
  /** What serves the shards, since when and why. */
  serving: Serving;
  /** Who serves the timers of this thread, if it is registered; see docs/drop-in.md. */
  registration: RegistrationState | undefined;
  /** Empty after close(). */
  shards: ShardStats[];
  /** In the owner of a shared scheduler: all clients, the owner first. Else empty. */
  clients: ClientStats[];
  /** Fired timers that this client has not taken yet. */
  untaken: number;
  /**
   * This client's timers by label, in the order of the labels' first use; last its drop-in timers, as '(drop-in)'. In the owner of a
   * shared scheduler, the sums over all clients: see `clients` for those of each.
   */
  labels: LabelStats[];
  /** Uses that cost more than necessary; usually empty. */
  warnings: StatsWarning[];
}

/** What a client knows of a host's shards without asking it, in the order of its answer. @internal */
export function knownOf({ client }: Coordinator, host: LaneHost): KnownOfShard[] {
  const { isInline: inline, failures } = host;
  const { deaths, restarts } = failures;
  return host.lanes.map(({ placement: shard }) => {
    const { size, capacity, retired, highWater } = client.laneAt(shard).table;
    return { shard, size, capacity, retired, highWater, deaths, restarts, inline };
  });
}

/** What client and shards have counted. @internal */
export async function collectStats(coordinator: Coordinator): Promise<SchedulerStats> {
  const asked = coordinator.client.isClosed ? undefined : coordinator.during(coordinator.askForCounts());
  const untaken = new Untaken(coordinator.number);
  const shards = await coordinator.collect('stats', (counters, host) => {
    const known = knownOf(coordinator, host); // read now: a successor may answer
    return counters.map((counter, lane) => ({ ...known[lane], ...untaken.note(counter) }));
  });
  await asked;
  return statsWith(coordinator, shards, untaken);
}

/** Does the same if the answers of the shards are known. @internal */
export function statsWith(coordinator: Coordinator, shards: ShardStats[], untaken: Untaken): SchedulerStats {
  const { client, number, serving } = coordinator;
  const clients = client.isClosed ? [] : coordinator.clients();
  return {
    ...countsOf(client),
    client: number,
    slack: client.scale.timeOf(client.labels.plain.slack),
    wakes: client.delivery.wakes,
    overlapped: client.repeating.overlapped,
    serving,
    registration: registered()?.state(),
    shards,
    clients: clients.map(({ told, ...counts }) => ({
      ...counts,
      untaken: untaken.of(counts.client),
      labels: labelStats(told),
    })),
    untaken: untaken.of(number),
    labels: clients.length === 0 ? ownLabelStats(client) : labelStats(clients.flatMap((each) => each.told)),
    warnings: hotShards(shards.map((shard) => shard.size)),
  };
}
