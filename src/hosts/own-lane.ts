import type { CommandStage } from '../lane/command-stage.ts';
import { type LaneOrigin, type LaneSetup, originOf, type ShardOrigin } from '../shard/build-shard.ts';
import type { GuestCalls, OfferedLane } from '../shard/guest-lanes.ts';

/** A client's lane to a shard of another thread's scheduler. */
export interface OwnLane {
  readonly placement: number;
  readonly setup: LaneSetup;
  /** Where the client stages its commands. */
  readonly stage: CommandStage;
}

/** The lanes as a thread is offered them. */
export const offered = (lanes: readonly OwnLane[], origin: ShardOrigin): OfferedLane[] =>
  lanes.map(({ placement, setup }, i) => ({ placement, setup, origin: originOf(origin, i) }));

/** The lane's part of what a thread has left; where it had none, its table has all there is. */
export const entriesOf = ({ placement }: OwnLane, left: GuestCalls['leave']): LaneOrigin =>
  left.find((lane) => lane.placement === placement)?.entries ?? 'tables';
