import type { Coordinator } from '../assembly/coordinator.ts';

/** A level of a shard's wheel. */
export interface WheelLevel {
  /** Time that a slot covers, in ms. */
  slotTime: number;
  /** Number of slots; 1 for the list of entries beyond the levels. */
  slots: number;
  /** The slot that holds `now`. */
  hand: number;
  /** Slots that hold entries, summed over the clients of the shard. */
  occupied: number;
  /**
   * Entries in these slots: live timers, and entries of timers that were cancelled or moved. Those remain until their
   * tick comes or their slot is compacted. So this is usually more than the number of live timers.
   */
  entries: number;
  /**
   * Entries by arc. All arcs of a level cover the same number of slots: one, or more if the level has over 256 slots.
   */
  arcs: Int32Array;
}

/** What waits between a client and a shard. */
export interface LaneQueues {
  /** As in `ClientStats`: 0 for the owner. */
  client: number;
  /** Entries in its wheel. */
  filed: number;
  /** Commands that the shard has not taken. */
  commands: number;
  /** Timers whose tick had passed before their command arrived, not yet handed over. */
  late: number;
  /** Fired records that the client has not taken. */
  fired: number;
}

/** The state of a shard's wheel, summed over the clients that the shard serves. */
export interface ShardWheel {
  shard: number;
  /** Time in ms on the clock of `now()`: timers due by then have been handed over. */
  now: number;
  /** The finest first. Empty if no shard serves the lane at this moment. */
  levels: WheelLevel[];
  /** By client that the shard serves. */
  lanes: LaneQueues[];
}

/** Asks all shards for their wheels. Empty if the client is closed meanwhile. @internal */
export function collectWheels(coordinator: Coordinator): Promise<ShardWheel[]> {
  const { scale, number } = coordinator;
  return coordinator.collect('wheels', (wheels, host) =>
    wheels.map(({ now, levels, queues }, lane) => ({
      shard: host.lanes[lane].placement,
      now: scale.timeOf(now),
      levels: levels.map(({ width, ...level }) => ({ slotTime: scale.timeOf(width), ...level })),
      lanes: queues.map((queue) => ({ ...queue, client: queue.client ?? number })),
    })),
  );
}
