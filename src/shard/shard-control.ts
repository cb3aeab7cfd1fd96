import type { Shard, ShardCounters } from './shard.ts';

/** What a shard's index holds, for tests and for a look inside. */
export interface ShardSnapshot {
  lanes: { now: number; entries: { slot: number; tag: number; tick: number }[] }[];
}

/** The calls that the coordinator makes through comlink. None is on the path of a timer. */
export class ShardControl {
  private readonly shard: Shard;

  constructor(shard: Shard) {
    this.shard = shard;
  }

  /** By lane. */
  stats(): ShardCounters[] {
    return this.shard.counters();
  }

  /** The shard leaves its lanes: see {@link Shard.leave}. */
  leave(): Int32Array[] {
    this.drain();
    return this.shard.leave();
  }

  /** Takes turns until no command is left and everything due is published; returns how many it took. */
  drain(): number {
    let turns = 1;
    while (this.shard.turn()) turns += 1;
    return turns;
  }

  /** The least deadline of all live timers of this shard's lanes, ms; Infinity when there is none. */
  earliestDeadline(): number {
    this.drain();
    return Math.min(...this.shard.lanes.map((lane) => lane.earliestDeadline()));
  }

  snapshot(): ShardSnapshot {
    this.drain();
    return { lanes: this.shard.lanes.map((lane) => ({ now: lane.index.now, entries: lane.entries() })) };
  }
}
