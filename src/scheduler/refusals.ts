/** ms between two messages of a shard. */
const MESSAGE_PAUSE_MS = 1000;

interface OfShard {
  /** Time of the last message, in ms. */
  toldAt: number;
  /** Refused since then. */
  untold: number;
}

/** Timers that were refused for lack of capacity, by shard: reported at most once a second for each, whatever their number. */
export class Refusals {
  private readonly shards = new Map<number | undefined, OfShard>();

  /** Counts a refusal at a time in ms. Returns how many to report now; 0 for none yet. */
  add(shard: number | undefined, now: number): number {
    const known = this.shards.get(shard) ?? { toldAt: Number.NEGATIVE_INFINITY, untold: 0 };
    this.shards.set(shard, known);
    known.untold += 1;
    if (now < known.toldAt + MESSAGE_PAUSE_MS) return 0;
    const { untold } = known;
    known.toldAt = now;
    known.untold = 0;
    return untold;
  }
}
