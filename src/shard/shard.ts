import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { LaneCounters } from './lane-counters.ts';
import type { ServedLane } from './served-lane.ts';

/** Most commands taken, and most entries handed over, per lane and turn; more waits for the next turn. */
export const TURN_BUDGET = 16_384;

/** What a shard has done for one of its lanes since it was started. */
export interface ShardCounters extends LaneCounters {
  /** Turns of the shard. */
  turns: number;
}

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
    const now = this.scale.tickAtOrBefore(this.clock.refresh());
    let more = false;
    for (const lane of this.lanes) {
      if (lane.turn(now, this.budget)) more = true;
    }
    return more;
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

  /** By lane. */
  counters(): ShardCounters[] {
    return this.lanes.map((lane) => ({ turns: this.turns, ...lane.counters() }));
  }

  /** Leaves all lanes; returns for each what another shard takes it over with. No turn does anything from here on. */
  leave(): Int32Array[] {
    return this.lanes.splice(0).map((lane) => lane.empty());
  }
}
