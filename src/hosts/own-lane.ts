import type { CommandStage } from '../lane/command-stage.ts';
import { type LaneOrigin, type LaneSetup, originOf, type ShardOrigin } from '../shard/build-shard.ts';
import type { GuestCalls, OfferedLane } from '../shard/guest-lanes.ts';

/** A client's lane to a shard of another thread's scheduler. */
export interface OwnLane {
  readonly placement: number;
  readonly setup: LaneSetup;
  /** The client's stage. */
  readonly stage: CommandStage;
}

/** The lanes, as the client offers them to a thread. */
export const offered = (lanes: readonly OwnLane[], origin: ShardOrigin): OfferedLane[] =>
  lanes.map(({ placement, setup }, i) => ({ placement, setup, origin: originOf(origin, i) }));

/** The lane's entries among those that a thread has handed back; if there are none, its table is the origin. */
export const entriesOf = ({ placement }: OwnLane, left: GuestCalls['leave']): LaneOrigin =>
  left.find((lane) => lane.placement === placement)?.entries ?? 'tables';
