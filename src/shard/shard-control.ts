import { addWheel, type LaneWheels, wheelOf } from './lane-wheel.ts';
import type { ServedLane } from './served-lane.ts';
import type { Shard, ShardCounters } from './shard.ts';

/** The contents of a shard's index, for tests and inspection. */
export interface ShardSnapshot {
  lanes: { now: number; entries: { slot: number; tag: number; tick: number }[] }[];
}

/** Lanes of other clients. */
export interface Guests {
  readonly count: number;
  /** The index of the shard's own lane with the same placement. */
  placementOf(lane: ServedLane): number;
  /** The serial of its client. */
  clientOf(lane: ServedLane): number;
}

/** Maximum of turns in one call: more than any capacity needs, but finite if a client floods the shard. */
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

/** The calls that the coordinator makes through comlink. None of them carries a timer. */
export class ShardControl {
  private readonly shard: Shard;
  private readonly guests: Guests | undefined;

  /** `guests`: lanes of other clients, which come and go after the shard's own lanes. */
  constructor(shard: Shard, guests?: Guests) {
    this.shard = shard;
    this.guests = guests;
  }

  /** By own lane; the work for guests is counted with the lane of the same placement. */
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

  /** By own lane, with the guests' lanes of the same placement. For the cost see `wheelOf`. */
  wheels(): LaneWheels[] {
    const own = this.ownLanes();
    const sums = this.shard.lanes.slice(0, own).map((lane) => wheelOf(lane));
    for (const lane of this.shard.lanes.slice(own)) {
      const sum = sums[this.guests?.placementOf(lane) ?? 0];
      addWheel(sum, wheelOf(lane, this.guests?.clientOf(lane)));
    }
    return sums;
  }

  /** Makes the shard leave its lanes: see {@link Shard.leave}. */
  leave(): Int32Array[] {
    this.drain();
    return this.shard.leave();
  }

  /** Takes turns until no command is left and all due timers are published; returns the number of turns. */
  drain(): number {
    let turns = 1;
    while (this.shard.turn() && turns < MOST_TURNS) turns += 1;
    return turns;
  }

  /** The earliest due tick of all live timers of this shard's lanes; Infinity if there is none. */
  earliestDueTick(): number {
    this.drain();
    const own = this.shard.lanes.slice(0, this.ownLanes());
    const now = this.shard.tick();
    return Math.min(...own.map((lane) => lane.earliestDueTick(now)));
  }

  /** Own lanes come first; only `leave` dismisses them. */
  private ownLanes(): number {
    return this.shard.lanes.length - (this.guests?.count ?? 0);
  }

  snapshot(): ShardSnapshot {
    this.drain();
    return { lanes: this.shard.lanes.map((lane) => ({ now: lane.index.now, entries: lane.entries() })) };
  }
}
