export {
  CapacityExceededError,
  DeadlineTooFarError,
  InvalidArgumentError,
  InvalidConfigError,
  InvalidDeadlineError,
} from '../errors.ts';
export { CascadingWheel } from '../extras/wheels/cascading-wheel.ts';
export { checkInvariants } from '../extras/wheels/check-invariants.ts';
export { createWheel } from '../extras/wheels/create-wheel.ts';
export { type LongTimer, scheduleLong, untilTarget } from '../extras/wheels/long-timers.ts';
export { MonotoneQueue, type QueueElement } from '../extras/wheels/monotone-queue.ts';
export { PinnedWheel } from '../extras/wheels/pinned-wheel.ts';
export type {
  AdvanceResult,
  FireHandler,
  TimingWheel,
  WheelMemoryStats,
  WheelTimer,
} from '../extras/wheels/timing-wheel.ts';
export type { TimerId } from '../timer-id.ts';
export { type PresetName, presets } from '../wheel/presets.ts';
export type {
  CascadingConfig,
  CompactionConfig,
  PinnedConfig,
  WheelConfig,
  WheelOptions,
} from '../wheel/wheel-config.ts';
export type { LevelStats } from '../wheel/wheel-index.ts';
export type { IndexSnapshot, WheelSnapshot } from '../wheel/wheel-snapshot.ts';
