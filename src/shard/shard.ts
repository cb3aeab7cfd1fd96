import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { LaneCounters } from './lane-counters.ts';
import type { ServedLane } from './served-lane.ts';

/**
 * Maximum of commands taken, and of entries handed over, per turn. The lanes with work share it; the rest waits for the
 * next turn.
 */
const TURN_BUDGET = 16_384;
/** The smallest share of a lane, however many lanes there are. */
const MIN_BUDGET = 1024;

/** The work of a shard for one of its lanes since the shard was started. */
export interface ShardCounters extends LaneCounters {
  /** Turns of the shard. */
  turns: number;
  /** Number of lanes in the sums: the caller's own, and those of other clients to the same shard. */
  lanes: number;
}

/**
 * A shard: the lanes it serves, each with its wheel, and one turn of work on them. It knows no thread: the same
 * turns are taken by a worker's loop or, inline, as a part of the client's.
 *
 *   turn = for each lane: take commands → hand over what is due by the clock, of list or wheel → publish fired records
 *
 * A turn is bounded by its budget; the next turn continues where it stopped.
 * @internal
 */
export class Shard {
  readonly lanes: ServedLane[] = [];
  turns = 0;

  private readonly clock: SharedClock;
  private readonly scale: TickScale;
  private readonly budget: number;

  constructor(clock: SharedClock, scale: TickScale, budget = TURN_BUDGET) {
    this.clock = clock;
    this.scale = scale;
    this.budget = budget;
  }

  /** Takes one turn, by the clock. Returns whether there is more to do at once. */
  turn(): boolean {
    for (const lane of this.lanes) lane.noteRequest(); // before the clock is read
    return this.turnAt(this.tick());
  }

  /** The same by a tick that the caller has just read. */
  turnAt(now: number): boolean {
    this.turns += 1;
    const budget = this.lanes.length === 1 ? this.budget : this.budgetPerLane(now);
    let more = false;
    for (const lane of this.lanes) if (lane.turn(now, budget)) more = true;
    return more;
  }

  /** Limits each lane, so that a flood from one client delays the others no longer than one lane's flood would. */
  private budgetPerLane(now: number): number {
    let busy = 0;
    for (const lane of this.lanes) if (lane.isBusy(now)) busy += 1;
    return busy <= 1 ? this.budget : Math.max(Math.min(MIN_BUDGET, this.budget), Math.trunc(this.budget / busy));
  }

  /** The clock's tick. */
  tick(): number {
    return this.scale.tickAtOrBefore(this.clock.publish());
  }

  /** Whether anything has arrived since the last turn read the lanes. */
  hasNews(): boolean {
    return this.lanes.some((lane) => lane.hasNews());
  }

  /**
   * The tick until which the shard may sleep unless rung; Infinity if nothing is filed, or only the client can help.
   */
  nextEvent(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.lanes) {
      if (!lane.isBlocked()) next = Math.min(next, lane.nextEvent());
    }
    return next;
  }

  /** Serves another lane. */
  admit(lane: ServedLane): void {
    this.lanes.push(lane);
  }

  /** Stops serving a lane. */
  dismiss(lane: ServedLane): void {
    const at = this.lanes.indexOf(lane);
    if (at >= 0) this.lanes.splice(at, 1);
  }

  /** By lane. */
  counters(): ShardCounters[] {
    return this.lanes.map((lane) => ({ turns: this.turns, lanes: 1, ...lane.counters() }));
  }
}
