import type { TickIndex } from './tick-index.ts';
import type { LevelStats } from './timing-wheel.ts';
import type { IndexSnapshot } from './wheel-snapshot.ts';

/** What a wheel for use in one thread needs of its index beyond TickIndex. */
export interface WheelIndex extends TickIndex {
  levelStats(): LevelStats[];
  /** Ticks that each level covers. */
  levelRanges(): number[];
  inspect(): IndexSnapshot;
}
