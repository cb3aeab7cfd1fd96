import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { LaneCounters } from './lane-counters.ts';
import type { ServedLane } from './served-lane.ts';

/** Most commands taken, and most entries handed over, per turn: shared by the lanes that have some; more waits for the next. */
const TURN_BUDGET = 16_384;
/** A lane's share is no less, however many there are. */
const MIN_BUDGET = 1024;

/** What a shard has done for one of its lanes since it was started. */
export interface ShardCounters extends LaneCounters {
  /** Turns of the shard. */
  turns: number;
  /** Lanes that the counts are sums over: the caller's own, and those that other clients have to the same shard. */
  lanes: number;
}

/** Of a lane that nobody serves. */
export const NOTHING_DONE: Readonly<ShardCounters> = {
  turns: 0,
  lanes: 1,
  commands: 0,
  fired: 0,
  refiled: 0,
  dropped: 0,
  cascaded: 0,
  filed: 0,
  bytes: 0,
  reservedBytes: 0,
};

/**
 * A shard: the lanes it serves, each with its wheel, and one turn of work on them. There is no thread in here: the same
 * turns are taken by a worker's loop and, with `shards: 0`, by the event loop of the caller.
 *
 *   turn = for each lane: drain commands → advance the wheel to the clock → publish the fired batch
 *
 * A turn is bounded by its budget and leaves off where the next goes on.
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

  /** Takes one turn. Returns whether there is more to do at once. */
  turn(): boolean {
    this.turns += 1;
    for (const lane of this.lanes) lane.noteRequest(); // before the clock is read
    const now = this.tick();
    const budget = this.lanes.length === 1 ? this.budget : this.budgetPerLane(now);
    let more = false;
    for (const lane of this.lanes) {
      if (lane.turn(now, budget)) more = true;
    }
    return more;
  }

  /** So that what a flooding client sends delays no other for longer than one lane's flood would. */
  private budgetPerLane(now: number): number {
    let busy = 0;
    for (const lane of this.lanes) if (lane.isBusy(now)) busy += 1;
    return busy <= 1 ? this.budget : Math.max(Math.min(MIN_BUDGET, this.budget), Math.trunc(this.budget / busy));
  }

  /** The clock's tick. */
  tick(): number {
    return this.scale.tickAtOrBefore(this.clock.refresh());
  }

  /** Whether something has come in since the last turn looked. */
  hasNews(): boolean {
    return this.lanes.some((lane) => lane.hasNews());
  }

  /** The tick until which the shard may sleep unless rung; Infinity when nothing is filed, or only the client can help. */
  nextEvent(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.lanes) {
      if (!lane.isBlocked()) next = Math.min(next, lane.nextEvent());
    }
    return next;
  }

  /** Serves the lane of one more client. */
  admit(lane: ServedLane): void {
    this.lanes.push(lane);
  }

  /** Serves the lane no more. */
  dismiss(lane: ServedLane): void {
    const at = this.lanes.indexOf(lane);
    if (at >= 0) this.lanes.splice(at, 1);
  }

  /** By lane. */
  counters(): ShardCounters[] {
    return this.lanes.map((lane) => ({ turns: this.turns, lanes: 1, ...lane.counters() }));
  }

  /** Leaves all lanes; returns for each what another shard takes it over with. No turn does anything from here on. */
  leave(): Int32Array[] {
    return this.lanes.splice(0).map((lane) => lane.handOver());
  }
}
