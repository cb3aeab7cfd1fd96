import type { CommandStage } from '../lane/command-stage.ts';
import type { LaneOrigin, LaneSetup } from '../shard/build-shard.ts';
import type { OfferedLane, ReturnedLane } from '../shard/lane-server.ts';

export interface OwnLane {
  readonly placement: number;
  readonly setup: LaneSetup;
  /** The client's stage. */
  readonly stage: CommandStage;
}

/** The same, with what its index is built from. */
export interface InlineLane extends OwnLane {
  origin: LaneOrigin;
}

/**
 * What whoever serves a client's lanes next builds their indexes from: nothing where there has been no timer, the
 * entries that a thread has handed back, or the tables. Entries are of the table as it was: where one has moved to
 * larger memory since, the tables are read.
 */
export class LaneOrigins {
  /** Whether a table has moved while its lane was not here. */
  haveMoved = false;

  /** A table has moved, and its lane is not here. */
  moved(): void {
    this.haveMoved = true;
  }

  /** To offer lanes that have had no timer yet. */
  ofNew(lanes: readonly OwnLane[]): OfferedLane[] {
    return offersOf(lanes, 'nothing');
  }

  /** To offer all lanes: none is elsewhere. */
  ofTables(lanes: readonly OwnLane[]): OfferedLane[] {
    this.haveMoved = false;
    return offersOf(lanes, 'tables');
  }

  /** To serve all lanes here, of which a thread has handed some back. */
  ofReturned(lanes: readonly OwnLane[], handedBack: readonly ReturnedLane[]): InlineLane[] {
    const kept = this.haveMoved ? [] : handedBack;
    this.haveMoved = false;
    return lanes.map((lane) => ({ ...lane, origin: entriesOf(lane, kept) }));
  }
}

/** What a lane can be built from, of those that were handed back: its entries, or else its table. */
export const entriesOf = ({ placement }: OwnLane, handedBack: readonly ReturnedLane[]): LaneOrigin =>
  handedBack.find((lane) => lane.placement === placement)?.entries ?? 'tables';

const offersOf = (lanes: readonly OwnLane[], origin: LaneOrigin): OfferedLane[] =>
  lanes.map(({ placement, setup }) => ({ placement, setup, origin }));
