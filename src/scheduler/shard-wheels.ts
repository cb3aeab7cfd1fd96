import type { Client } from '../client/client.ts';
import type { LaneWheels } from '../shard/lane-wheel.ts';
import type { TickScale } from '../time/tick-scale.ts';

/** A level of a shard's wheel. */
export interface WheelLevel {
  /** ms that a slot covers. */
  slotTime: number;
  /** Slots of the level; of a list for what lies beyond the levels, one. */
  slots: number;
  /** The slot that holds `now`. */
  hand: number;
  /** Slots that hold entries, summed over the clients of the shard. */
  occupied: number;
  /**
   * Entries in these slots: timers, and what timers have left that were cancelled or moved, until their tick comes or their
   * slot is compacted. So this is more than the live timers, as a rule.
   */
  entries: number;
  /** Entries by arc, as many neighbouring slots to each: one, or more where a level has over 256 slots. */
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
  /** Timers whose tick had come before their command, not yet handed over. */
  late: number;
  /** Fired records that the client has not taken. */
  fired: number;
}

/** A shard's wheel as it stands, summed over the clients that the shard serves. */
export interface ShardWheel {
  shard: number;
  /** ms on `now()`'s clock: what was due by then has been handed over. */
  now: number;
  /** The finest first. Empty where no shard serves the lane at this moment. */
  levels: WheelLevel[];
  /** By client that the shard serves. */
  lanes: LaneQueues[];
}

/** Where they come from. */
export interface WheelsSource {
  readonly client: Client;
  shardWheels(): Promise<ShardWheel[]>;
}

/** Empty where the client is closed meanwhile. */
export async function collectWheels(coordinator: WheelsSource): Promise<ShardWheel[]> {
  return await coordinator.shardWheels().catch((error) => {
    if (coordinator.client.isClosed) return [];
    throw error;
  });
}

/** In units of users. `client`: the serial of the one that asks. */
export function shardWheel(shard: number, wheels: LaneWheels, scale: TickScale, client: number): ShardWheel {
  return {
    shard,
    now: scale.timeOf(wheels.now),
    levels: wheels.levels.map(({ width, ...level }) => ({ slotTime: scale.timeOf(width), ...level })),
    lanes: wheels.queues.map((queues) => ({ ...queues, client: queues.client ?? client })),
  };
}
