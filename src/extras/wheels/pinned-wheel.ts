import type { TimerId } from '../../timer-id.ts';
import { PinnedIndex, pinnedLevels } from '../../wheel/pinned/pinned-index.ts';
import { DEFAULT_CAPACITY, type PinnedConfig, validateConfig, type WheelOptions } from '../../wheel/wheel-config.ts';
import { IndexedWheel } from './indexed-wheel.ts';
import { Intervals } from './intervals.ts';

/**
 * A wheel whose timers stay on the level where they were placed: see PinnedIndex. Its precision is the finest level's.
 * The constructor throws InvalidConfigError.
 */
export class PinnedWheel<T> extends IndexedWheel<T, PinnedIndex> {
  private readonly config: PinnedConfig;

  constructor(config: PinnedConfig, options: WheelOptions = {}) {
    validateConfig(config, options);
    const { start = 0, id = 0 } = options;
    const { capacity = DEFAULT_CAPACITY, compaction, past = 'next-tick' } = config;
    super({
      index: new PinnedIndex({ levels: pinnedLevels(config), capacity, compaction }),
      intervals: new Intervals(start, config.levels[0].precision, 'up'),
      capacity,
      past,
      shard: id,
    });
    this.config = config;
  }

  /**
   * Schedules at the deadline, or at the last tick that the wheel accepts if that is earlier. When that timer fires,
   * schedule the rest of the way: see scheduleLong.
   * @throws InvalidDeadlineError, CapacityExceededError.
   */
  scheduleBestFit(deadline: number, value: T): { id: TimerId; wheelDeadline: number } {
    const wheelDeadline = deadline < this.upperBound ? deadline : this.lastDeadline();
    const finite = Number.isFinite(deadline) ? wheelDeadline : deadline;
    return { id: this.schedule(finite, value), wheelDeadline };
  }

  /** The time of the last tick that the wheel accepts. */
  private lastDeadline(): number {
    const { intervals, upperBound } = this;
    let tick = intervals.intervalOf(upperBound) - 1;
    // If doubles are coarser than ticks, earlier ticks share the bound's time.
    while (intervals.startOf(tick) >= upperBound) tick--;
    return intervals.startOf(tick);
  }

  /** Frees memory that the spokes do not need. Ids stay valid. */
  compact(): void {
    this.index.compact();
  }

  /** The span of time that a level covers. */
  coverage(level: number): number {
    return this.precisionAt(level) * this.config.levels[level].spokes;
  }

  /** Units of time per tick of a level: a timer placed on it is late by less than this. */
  precisionAt(level: number): number {
    return this.config.levels[level].precision;
  }
}
