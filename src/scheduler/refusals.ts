/** ms between two messages of a shard. */
const PAUSE = 1000;

interface OfShard {
  /** When it was told last, ms. */
  toldAt: number;
  /** Since then. */
  untold: number;
}

/** Timers that were refused for want of capacity, by shard: told at most once a second each, however many they are. */
export class Refusals {
  private readonly shards = new Map<number | undefined, OfShard>();

  /** One more, at a time in ms. Returns how many there are to tell; 0 where nobody is to be told yet. */
  add(shard: number | undefined, now: number): number {
    const known = this.shards.get(shard) ?? { toldAt: Number.NEGATIVE_INFINITY, untold: 0 };
    this.shards.set(shard, known);
    known.untold += 1;
    if (now < known.toldAt + PAUSE) return 0;
    const { untold } = known;
    known.toldAt = now;
    known.untold = 0;
    return untold;
  }
}
