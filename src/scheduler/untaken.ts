import type { ServedCounters } from '../shard/lane-server.ts';
import type { ShardCounters } from '../shard/shard.ts';

/** Fired records that clients have not taken, summed over the shards that have answered. @internal */
export class Untaken {
  private readonly byClient = new Map<number, number>();
  private readonly asking: number;

  /** `asking`: the number of the client that asks. */
  constructor(asking: number) {
    this.asking = asking;
  }

  /** Adds those of a lane's answer; returns the rest of it. */
  note({ untaken, ...counters }: ServedCounters): ShardCounters {
    for (const { client = this.asking, records } of untaken) {
      this.byClient.set(client, this.of(client) + records);
    }
    return counters;
  }

  of(client: number): number {
    return this.byClient.get(client) ?? 0;
  }
}
