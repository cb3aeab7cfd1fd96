import { addWheel, type LaneWheels, wheelOf } from './lane-wheel.ts';
import type { ServedLane } from './served-lane.ts';
import type { Shard, ShardCounters } from './shard.ts';

/** What a shard's index holds, for tests and for a look inside. */
export interface ShardSnapshot {
  lanes: { now: number; entries: { slot: number; tag: number; tick: number }[] }[];
}

/** Lanes of other clients. */
export interface Guests {
  readonly count: number;
  /** Which of the shard's own lanes has the same placement. */
  placementOf(lane: ServedLane): number;
  /** The serial of its client. */
  clientOf(lane: ServedLane): number;
}

/** In one call: more than any capacity needs, and less than for ever, beside a client that floods the shard. */
const MOST_TURNS = 4096;

const SUMMED = [
  'lanes',
  'commands',
  'fired',
  'refiled',
  'dropped',
  'cascaded',
  'filed',
  'bytes',
  'reservedBytes',
] as const;

/** The calls that the coordinator makes through comlink. None is on the path of a timer. */
export class ShardControl {
  private readonly shard: Shard;
  private readonly guests: Guests | undefined;

  /** `guests`: lanes of other clients, which come and go behind the lanes that the shard was built with. */
  constructor(shard: Shard, guests?: Guests) {
    this.shard = shard;
    this.guests = guests;
  }

  /** By lane of its own; what it has done for guests is counted with the lane of the same placement. */
  stats(): ShardCounters[] {
    const own = this.ownLanes();
    const counters = this.shard.counters();
    const sums = counters.slice(0, own);
    for (const [i, counter] of counters.slice(own).entries()) {
      const sum = sums[this.guests?.placementOf(this.shard.lanes[own + i]) ?? 0];
      for (const name of SUMMED) sum[name] += counter[name];
    }
    return sums;
  }

  /** By lane of its own, with those of the same placement that guests have. See `wheelOf` for what it costs. */
  wheels(): LaneWheels[] {
    const own = this.ownLanes();
    const sums = this.shard.lanes.slice(0, own).map((lane) => wheelOf(lane));
    for (const lane of this.shard.lanes.slice(own)) {
      const sum = sums[this.guests?.placementOf(lane) ?? 0];
      addWheel(sum, wheelOf(lane, this.guests?.clientOf(lane)));
    }
    return sums;
  }

  /** The shard leaves its lanes: see {@link Shard.leave}. */
  leave(): Int32Array[] {
    this.drain();
    return this.shard.leave();
  }

  /** Takes turns until no command is left and everything due is published; returns how many it took. */
  drain(): number {
    let turns = 1;
    while (this.shard.turn() && turns < MOST_TURNS) turns += 1;
    return turns;
  }

  /** The least due tick of all live timers of this shard's lanes; Infinity when there is none. */
  earliestDueTick(): number {
    this.drain();
    const own = this.shard.lanes.slice(0, this.ownLanes());
    const now = this.shard.tick();
    return Math.min(...own.map((lane) => lane.earliestDueTick(now)));
  }

  /** Its own come first, and are dismissed by none but `leave`. */
  private ownLanes(): number {
    return this.shard.lanes.length - (this.guests?.count ?? 0);
  }

  snapshot(): ShardSnapshot {
    this.drain();
    return { lanes: this.shard.lanes.map((lane) => ({ now: lane.index.now, entries: lane.entries() })) };
  }
}
