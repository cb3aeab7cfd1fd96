import type { Coordinator } from '../assembly/coordinator.ts';
import type { ClientStats } from '../assembly/sharing.ts';
import { countsOf, type TimerCounts } from '../assembly/stats-interval.ts';
import { type LabelStats, labelStats, ownLabelStats } from '../client/labels/label-counts.ts';
import type { Serving } from '../hosts/serving.ts';
import { requireMilliseconds, requireOptions } from '../known-options.ts';
import { type RegistrationState, registered } from '../time/native-timers.ts';
import type { ShardAnswers, ShardStats } from './shard-answers.ts';

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
 * Returns a warning for each shard with far more live timers than the others: many timers share few hints, and so one
 * wheel.
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

export interface StatsOptions {
  /**
   * How many ms shards have to answer, from 1 to 60,000. One that does not is reported as last known, with `answered:
   * false`, and asked again once it has answered. Default: all shards are waited for.
   */
  timeout?: number;
}

const MAX_STATS_TIMEOUT_MS = 60_000;

/** Counts of this client, and what serves it. */
export interface SchedulerStats extends TimerCounts {
  /** This client's number in a shared scheduler; 0 for the owner, and if nothing is shared. */
  client: number;
  /** How much later timers may come by default, in ms: the option, rounded to whole ticks. */
  slack: number;
  /** Turns of this client's event loop that delivered timers. Slack makes them fewer. */
  wakes: number;
  /**
   * Calls of repeating timers that were not made, since the promise that the one before had returned was pending:
   * `overlap: false`.
   */
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
   * This client's timers by label, in the order of the labels' first use; last its drop-in timers, as '(drop-in)'. In
   * the owner of a shared scheduler, the sums over all clients: see `clients` for those of each.
   */
  labels: LabelStats[];
  /** Uses that cost more than necessary; usually empty. */
  warnings: StatsWarning[];
}

/**
 * What client and shards have counted. Throws InvalidArgumentError, InvalidConfigError for an option.
 * @internal
 */
export async function collectStats(
  coordinator: Coordinator,
  answers: ShardAnswers,
  options: StatsOptions = {},
): Promise<SchedulerStats> {
  requireOptions(options, { timeout: 0 } satisfies Record<keyof StatsOptions, 0>);
  const { timeout } = options;
  if (timeout !== undefined) requireMilliseconds('options.timeout', timeout, 1, MAX_STATS_TIMEOUT_MS);
  const asked = coordinator.client.isClosed ? undefined : coordinator.during(coordinator.askForCounts());
  const { shards, untaken } = await (timeout === undefined ? answers.all() : answers.within(timeout));
  await asked;
  const { client, number, serving } = coordinator;
  const clients = client.isClosed ? [] : coordinator.clients();
  return {
    ...countsOf(client),
    client: number,
    slack: client.scale.timeOf(client.registry.plain.slack),
    wakes: client.delivery.wakes,
    overlapped: client.repeating.overlapped,
    serving,
    registration: registered()?.state(),
    shards,
    clients: clients.map(({ reported, ...counts }) => ({
      ...counts,
      untaken: untaken.of(counts.client),
      labels: labelStats(reported),
    })),
    untaken: untaken.of(number),
    labels: clients.length === 0 ? ownLabelStats(client) : labelStats(clients.flatMap((each) => each.reported)),
    warnings: hotShards(shards.map((shard) => shard.size)),
  };
}
