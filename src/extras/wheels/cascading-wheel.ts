import { CascadingIndex } from '../../wheel/cascading/cascading-index.ts';
import { type CascadingConfig, DEFAULT_CAPACITY, validateConfig, type WheelOptions } from '../../wheel/wheel-config.ts';
import { IndexedWheel } from './indexed-wheel.ts';
import { Intervals } from './intervals.ts';

/**
 * A hierarchical wheel whose timers move to finer levels as their time approaches: see CascadingIndex. The constructor
 * throws InvalidConfigError.
 */
export class CascadingWheel<T> extends IndexedWheel<T, CascadingIndex> {
  constructor(config: CascadingConfig, options: WheelOptions = {}) {
    validateConfig(config, options);
    const { start = 0, id = 0 } = options;
    const { precision, levelBits, overflow, past = 'next-tick', rounding = 'up', capacity = DEFAULT_CAPACITY } = config;
    super({
      index: new CascadingIndex({ levelBits, capacity, overflow }),
      intervals: new Intervals(start, precision, rounding),
      capacity,
      past,
      shard: id,
    });
  }
}
