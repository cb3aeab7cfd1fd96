import {
  type CascadingConfig,
  type PinnedConfig,
  type PresetName,
  presets,
  type WheelConfig,
} from '../../../src/entries/wheel.ts';
import type { DuelOptions } from './duel.ts';
import { WorldDraws } from './world-draws.ts';

/** One wheel's life: everything about it follows from the run's seed and its number. */
export interface World extends DuelOptions {
  readonly number: number;
  /** The preset, or what was drawn. */
  readonly kind: WorldKind;
  readonly draws: WorldDraws;
  /** Moves to make. */
  readonly moves: number;
  /** Ticks that the levels cover, as a power of two. */
  readonly bits: number;
  readonly remembersIds: boolean;
  /** Begins some ticks before the last, where much is refused. */
  readonly isAtEnd: boolean;
}

type Drawn = 'cascading' | 'pinned' | 'fractions' | 'few slots' | 'ids used up' | 'the end';
export type WorldKind = PresetName | Drawn;

export const worldKinds: readonly WorldKind[] = [
  'default',
  'janestreet',
  'pinned3',
  'ustack',
  'twolevel',
  'blitz',
  'cascading',
  'pinned',
  'fractions',
  'few slots',
  'ids used up',
  'the end',
];

/** Timers that a world has room for: few, most of the time, so that all is in the cache. */
const ROOMS = [12, 60, 300, 300, 1000, 4000];
const MOVES = [300, 3000, 20_000, 60_000];
/** For few slots that are used by many timers each. */
const FEW_ROOMS = [3, 4, 12];
const MANY_MOVES = [3000, 3000, 3000, 150_000];
/** Where errors take their time, and the next tick may be the last. */
const FEW_MOVES = 1000;
const BITS_AT_END = 10;
/**
 * So that a slot's generations are used up within a world: 53 bits less 16 of the wheel's number and 24 of the slot.
 */
const GREATEST_ID = 2 ** 16 - 1;
const GREATEST_CAPACITY = 2 ** 24;

export function worldOf(seed: number, number: number): World {
  const draws = new WorldDraws(seed, number);
  const kind = worldKinds[number % worldKinds.length];
  const isUsedUp = kind === 'ids used up';
  const isAtEnd = kind === 'the end';
  const room = draws.pick(isUsedUp ? FEW_ROOMS : ROOMS);
  const config = configOf(kind, room, draws);
  return {
    number,
    kind,
    draws,
    config,
    start: isAtEnd ? farStart(config, draws) : startOf(kind, config, draws),
    id: isUsedUp ? GREATEST_ID : draws.pick([0, 0, 1, 77, GREATEST_ID]),
    room,
    moves: isUsedUp ? draws.pick(MANY_MOVES) : isAtEnd ? FEW_MOVES : draws.pick(MOVES),
    bits: isAtEnd ? BITS_AT_END : bitsOf(config),
    isAtEnd,
    remembersIds: isUsedUp || draws.chance(64),
  };
}

export const precisionOf = (config: WheelConfig): number =>
  config.engine === 'pinned' ? config.levels[0].precision : config.precision;

function configOf(kind: WorldKind, room: number, draws: WorldDraws): WheelConfig {
  switch (kind) {
    case 'cascading':
      return drawCascading(draws, draws.pick([1, 1, 2, 1024, 0.25]));
    case 'pinned':
      return drawPinned(draws, draws.pick([1, 1, 8, 0.5]));
    case 'fractions':
      return draws.chance(768)
        ? drawCascading(draws, draws.pick([0.1, 0.3, 1 / 3, 1e-3, 7.7, 1e9 / 7]))
        : drawPinned(draws, draws.pick([0.1, 0.7, 1e-3]));
    case 'few slots':
      return { ...drawAny(draws), capacity: 1 + draws.below(room) };
    case 'the end':
      return draws.chance(512) ? drawAny(draws) : draws.pick([presets.janestreet, presets.twolevel, presets.pinned3]);
    case 'ids used up':
      return { ...drawAny(draws), capacity: GREATEST_CAPACITY };
    default:
      return presets[kind];
  }
}

function drawAny(draws: WorldDraws): WheelConfig {
  return draws.chance(256) ? drawPinned(draws, 1) : drawCascading(draws, 1);
}

function drawCascading(draws: WorldDraws, precision: number): CascadingConfig {
  const levelBits: number[] = [];
  const most = draws.pick([2, 3, 6, 11]);
  const levels = 1 + draws.below(6);
  for (let left = 53; levelBits.length < levels && left > 0; left -= levelBits[levelBits.length - 1]) {
    levelBits.push(1 + draws.below(Math.min(most, left)));
  }
  return {
    engine: 'cascading',
    precision,
    levelBits,
    overflow: draws.pick(['list', 'throw']),
    past: draws.pick(['next-tick', 'next-tick', 'throw']),
    rounding: draws.pick(['up', 'up', 'next']),
  };
}

function drawPinned(draws: WorldDraws, precision: number): PinnedConfig {
  const levels: { precision: number; spokes: number }[] = [];
  let ticks = 1;
  for (let left = 1 + draws.below(4); left > 0; left--) {
    const spokes = 2 ** (1 + draws.below(7));
    // A multiple of the first level's as doubles divide it, or validation would refuse it.
    if (Number.isInteger((ticks * precision) / precision)) levels.push({ precision: ticks * precision, spokes });
    ticks *= draws.pick([2, 3, spokes, spokes * 4]);
  }
  const compaction = {
    minCapacity: draws.pick([1, 16, 64]),
    ratio: draws.pick([2, 4]),
    targetMultiplier: 1 + draws.below(2),
  };
  return { engine: 'pinned', levels, compaction, past: draws.pick(['next-tick', 'next-tick', 'throw']) };
}

/** Zero, or whatever lets a tick make a difference. */
function startOf(kind: WorldKind, config: WheelConfig, draws: WorldDraws): number {
  const precision = precisionOf(config);
  if (draws.chance(512)) return 0;
  const far = precision * 2 ** (10 + draws.below(40));
  const whole = draws.pick([precision, -7 * precision, Math.floor(far), -Math.floor(far), far * 1.37]);
  const start = kind === 'fractions' ? draws.pick([whole, 0.1, -1 / 3, far * draws.share()]) : Math.round(whole);
  return start + precision === start || start - precision === start ? 0 : start;
}

/** Some so far off that ticks share a time near the end. */
function farStart(config: WheelConfig, draws: WorldDraws): number {
  const ticks = draws.pick([0, 0, 7, 2 ** 52 + 1, 2 ** 52 + 3, -(2 ** 52) - 1]);
  return ticks * precisionOf(config);
}

function bitsOf(config: WheelConfig): number {
  if (config.engine === 'cascading') return config.levelBits.reduce((sum, bits) => sum + bits, 0);
  const { precision, spokes } = config.levels[config.levels.length - 1];
  return Math.ceil(Math.log2((precision / config.levels[0].precision) * spokes));
}
