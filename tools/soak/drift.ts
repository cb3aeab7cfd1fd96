/** What is looked at once a second, while the soak runs. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number;
  /** Live timers. */
  readonly live: number;
  /** Bytes of resident memory. */
  readonly rss: number;
  /**
   * What keeps the process alive, by `process.getActiveResourcesInfo()`, and threads where the system tells of them.
   */
  readonly handles: number;
  readonly threads: number;
  /** Entries in the wheels, dead ones included, and the bytes of the wheels. */
  readonly filed: number;
  readonly wheelBytes: number;
  /** Slots of the tables that have ever been in use. */
  readonly highWater: number;
  /** The most live timers that a shard was seen with until now, over all shards. */
  readonly peak: number;
}

/** Bytes of resident memory that one more live timer may cost: 102 were measured. */
const BYTES_PER_TIMER = 300;
/** Growth that is put down to chance: a share of what there was, and bytes besides. */
const CHANCE = 0.1;
const SLACK = 64 * 2 ** 20;
const MIN_SAMPLES = 30;
/**
 * Slots in use at once, as a multiple of what one look a second has seen of it; what a burst may have added between.
 */
const PEAK_SHARE = 1.5;
const PEAK_SLACK = 100_000;

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

/**
 * What has grown from the middle third of the run to the last, though the load has not; the first third warms up.
 * Memory is compared by medians, less what more live timers may take; handles and threads by minima, because there are
 * more of them for a moment whenever a thread is replaced, while those that are left behind are always there. The
 * tables keep their highest water, so theirs is held against the most that lived at once.
 */
export function findDrift(samples: readonly Sample[]): string[] {
  if (samples.length < MIN_SAMPLES) return [];
  const third = Math.floor(samples.length / 3);
  const middle = samples.slice(third, 2 * third);
  const last = samples.slice(2 * third);
  const drift: string[] = [];
  const of = (field: keyof Sample, part: readonly Sample[]) => part.map((sample) => sample[field]);
  const more = Math.max(0, median(of('live', last)) - median(of('live', middle)));
  for (const [field, slack] of [
    ['rss', SLACK + more * BYTES_PER_TIMER],
    ['wheelBytes', SLACK + more * BYTES_PER_TIMER],
    ['filed', 100_000 + more * 3],
  ] as const) {
    const [before, after] = [median(of(field, middle)), median(of(field, last))];
    if (after > before * (1 + CHANCE) + slack) drift.push(`${field} grew from ${before} to ${after}`);
  }
  for (const field of ['handles', 'threads'] as const) {
    const [before, after] = [Math.min(...of(field, middle)), Math.min(...of(field, last))];
    if (after > before) drift.push(`${field} grew from ${before} to ${after}`);
  }
  const { highWater = 0, peak = 0 } = last.at(-1) ?? {};
  if (highWater > peak * PEAK_SHARE + PEAK_SLACK) {
    drift.push(`${highWater} table slots have been in use, though no more than about ${peak} timers lived at once`);
  }
  return drift;
}
