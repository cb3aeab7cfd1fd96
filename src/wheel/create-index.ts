import { CascadingIndex, type CascadingIndexOptions } from './cascading/cascading-index.ts';
import { PinnedIndex, pinnedLevels } from './pinned/pinned-index.ts';
import type { TickIndex } from './tick-index.ts';
import type { WheelConfig } from './wheel-config.ts';

export type TickIndexOptions = Pick<CascadingIndexOptions, 'capacity' | 'start' | 'reserve' | 'words'>;

/**
 * Creates the engine that a configuration names, counting in ticks of the finest level, for a shard. The
 * configuration's refusal of deadlines and its rounding apply only to a wheel used alone: a scheduler has no longest
 * delay and one rule of rounding, so an index of either kind holds what is beyond its range. Precondition: the
 * configuration is valid.
 */
export function createTickIndex(config: WheelConfig, options: TickIndexOptions): TickIndex {
  if (config.engine === 'cascading') {
    return new CascadingIndex({ levelBits: config.levelBits, overflow: 'list', ...options });
  }
  const { capacity, start } = options;
  const levels = pinnedLevels(config);
  return new PinnedIndex({ levels, compaction: config.compaction, overflow: 'list', capacity, start });
}
