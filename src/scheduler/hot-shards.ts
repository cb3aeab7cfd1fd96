/** A use of the scheduler that costs performance and that its user can correct. */
export interface StatsWarning {
  code: 'HOT_SHARD';
  shard: number;
  message: string;
}

/** Below this number of live timers no warning is given. */
const MIN_SIZE = 10_000;
/** A shard may hold this many times the mean of the others. Hints spread evenly: chance alone does not reach this. */
const FACTOR = 4;

/**
 * Returns a warning for each shard with far more live timers than the others: many timers share few hints, and so one wheel.
 * @internal
 */
export function hotShards(sizes: readonly number[]): StatsWarning[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const warnings: StatsWarning[] = [];
  for (const [shard, size] of sizes.entries()) {
    if (sizes.length < 2 || size < MIN_SIZE || size <= (FACTOR * (total - size)) / (sizes.length - 1)) continue;
    const message = `Shard ${shard} holds ${size} of ${total} live timers: too few different hints, or one that is used for most`;
    warnings.push({ code: 'HOT_SHARD', shard, message });
  }
  return warnings;
}
