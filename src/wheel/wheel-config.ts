import { InvalidConfigError } from '../errors.ts';
import { requireInteger } from '../known-options.ts';

/** A wheel of levels of 2^levelBits slots each, the finest first; see CascadingIndex. */
export interface CascadingConfig {
  engine: 'cascading';
  /** Units of time per tick. */
  precision: number;
  /** Bits of each level, the finest first: 2^bits slots. */
  levelBits: number[];
  /** Deadlines beyond the levels' range: held in a list, or refused with DeadlineTooFarError. Default 'list'. */
  overflow?: 'list' | 'throw';
  /**
   * Deadlines before now's interval: due at the next tick, or refused with InvalidDeadlineError. Default 'next-tick'.
   */
  past?: 'next-tick' | 'throw';
  /** See TimingWheel. Default 'up'. */
  rounding?: 'up' | 'next';
  /** Maximum of live timers, 1 to 2^24. Default 2^22. Memory is taken only when it is used. */
  capacity?: number;
}

/** A wheel whose timers stay on the level where they were placed; see PinnedIndex. */
export interface PinnedConfig {
  engine: 'pinned';
  /** The finest first; each precision a multiple of the first, spokes powers of two. */
  levels: { precision: number; spokes: number }[];
  /** When spokes free memory. Default { minCapacity: 64, ratio: 4, targetMultiplier: 2 }. */
  compaction?: CompactionConfig;
  /** As for a cascading wheel. Default 'next-tick'. */
  past?: 'next-tick' | 'throw';
  /** Maximum of live timers, 1 to 2^24. Default 2^22. */
  capacity?: number;
}

/**
 * When a spoke frees memory: capacity >= minCapacity and timers * ratio < capacity. Then capacity = timers *
 * targetMultiplier.
 */
export interface CompactionConfig {
  /** Timers; 64 in the presets. */
  minCapacity: number;
  /** 4 in the presets. */
  ratio: number;
  /** 2 in the presets. */
  targetMultiplier: number;
}

export type WheelConfig = CascadingConfig | PinnedConfig;

export interface WheelOptions {
  /** The time at which interval 0 starts, and the first `now`. Default 0. */
  start?: number;
  /** The top bits of every timer id. Default 0. */
  id?: number;
}

/** Bits of a tick: ticks are safe integers. */
const MAX_TICK_BITS = 53;
/** Maximum of bits of one level: the memory of its slots is allocated at the start. */
const MAX_LEVEL_BITS = 20;
export const DEFAULT_CAPACITY = 2 ** 22;
export const MAX_CAPACITY = 2 ** 24;
const MAX_ID = 2 ** 16 - 1;

/** Checks a configuration. Throws InvalidConfigError with the option and its value. */
export function validateConfig(config: WheelConfig, options: WheelOptions = {}): void {
  if (typeof config !== 'object' || config === null)
    throw new InvalidConfigError('wheel', 'must be a configuration', config);
  const { start, id } = readOptions(options);
  const { capacity = DEFAULT_CAPACITY, past = 'next-tick' } = config;
  requireInteger('capacity', capacity, 1, MAX_CAPACITY);
  requireInteger('id', id, 0, MAX_ID);
  if (!Number.isFinite(start)) throw new InvalidConfigError('start', 'must be a finite number', start);
  requireOneOf('past', past, ['next-tick', 'throw']);
  if (config.engine === 'cascading') validateCascading(config);
  else if (config.engine === 'pinned') validatePinned(config);
  else requireOneOf('engine', (config as { engine: unknown }).engine, ['cascading', 'pinned']);
}

/** Throws InvalidConfigError for what is no object, or a proxy of which nothing can be read. */
function readOptions(options: WheelOptions): Required<WheelOptions> {
  let read: Required<WheelOptions> | undefined;
  try {
    if (typeof options === 'object' && options !== null) read = { start: options.start ?? 0, id: options.id ?? 0 };
  } catch {
    // its own code has thrown
  }
  if (read === undefined) throw new InvalidConfigError('options', 'must be an object', options);
  return read;
}

function validateCascading({ precision, levelBits, overflow = 'list', rounding = 'up' }: CascadingConfig): void {
  requirePrecision('precision', precision);
  requireOneOf('overflow', overflow, ['list', 'throw']);
  requireOneOf('rounding', rounding, ['up', 'next']);
  if (!Array.isArray(levelBits) || levelBits.length === 0) {
    throw new InvalidConfigError('levelBits', 'must be an array with at least one level', levelBits);
  }
  for (const [level, bits] of levelBits.entries()) requireInteger(`levelBits[${level}]`, bits, 1, MAX_LEVEL_BITS);
  const sum = levelBits.reduce((total, bits) => total + bits, 0);
  if (sum > MAX_TICK_BITS) throw new InvalidConfigError('levelBits', `must sum to at most ${MAX_TICK_BITS} bits`, sum);
}

function validatePinned({ levels, compaction }: PinnedConfig): void {
  if (!Array.isArray(levels) || levels.length === 0) {
    throw new InvalidConfigError('levels', 'must be an array with at least one level', levels);
  }
  let finer = 0;
  levels.forEach(({ precision, spokes }, level) => {
    requirePrecision(`levels[${level}].precision`, precision);
    requireInteger(`levels[${level}].spokes`, spokes, 2, 2 ** MAX_LEVEL_BITS);
    if (!Number.isInteger(Math.log2(spokes))) {
      throw new InvalidConfigError(`levels[${level}].spokes`, 'must be a power of two', spokes);
    }
    const ticks = precision / levels[0].precision;
    if (!Number.isSafeInteger(ticks) || precision <= finer) {
      const requirement = "must be a multiple of the first level's, and more than the level's before";
      throw new InvalidConfigError(`levels[${level}].precision`, requirement, precision);
    }
    if (ticks * spokes > 2 ** MAX_TICK_BITS) {
      throw new InvalidConfigError(`levels[${level}]`, `must cover at most 2^${MAX_TICK_BITS} ticks`, ticks * spokes);
    }
    finer = precision;
  });
  if (compaction === undefined) return;
  const { minCapacity, ratio, targetMultiplier } = compaction;
  requireInteger('compaction.minCapacity', minCapacity, 1, MAX_CAPACITY);
  requireInteger('compaction.ratio', ratio, 1, MAX_CAPACITY);
  requireInteger('compaction.targetMultiplier', targetMultiplier, 1, MAX_CAPACITY);
  if (targetMultiplier <= ratio) return;
  throw new InvalidConfigError('compaction.targetMultiplier', 'must be at most compaction.ratio', targetMultiplier);
}

function requirePrecision(option: string, value: unknown): void {
  if (Number.isFinite(value) && (value as number) > 0) return;
  throw new InvalidConfigError(option, 'must be a finite number > 0', value);
}

function requireOneOf(option: string, value: unknown, allowed: string[]): void {
  if (allowed.includes(value as string)) return;
  throw new InvalidConfigError(option, `must be one of ${allowed.join(', ')}`, value);
}
