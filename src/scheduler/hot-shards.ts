/** Something about a scheduler's use that costs, and can be mended by its user. */
export interface StatsWarning {
  code: 'HOT_SHARD';
  shard: number;
  message: string;
}

/** Fewer live timers are no load worth a word. */
const MIN_SIZE = 10_000;
/** Times the mean of the other shards that a shard may hold. Hints spread evenly: chance gives no shard this much. */
const FACTOR = 4;

/** Shards that hold far more live timers than the others: many timers share few hints, and with them one wheel. */
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
