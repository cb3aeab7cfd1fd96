export {
  CapacityExceededError,
  DeadlineTooFarError,
  InvalidArgumentError,
  InvalidConfigError,
  InvalidDeadlineError,
} from '../errors.ts';
export type { TimerId } from '../timer-id.ts';
export { CascadingWheel } from '../wheel/cascading/cascading-wheel.ts';
export { checkInvariants } from '../wheel/check-invariants.ts';
export { createWheel } from '../wheel/create-wheel.ts';
export { type LongTimer, scheduleLong, untilTarget } from '../wheel/long-timers.ts';
export { MonotoneQueue, type QueueElement } from '../wheel/monotone-queue.ts';
export { PinnedWheel } from '../wheel/pinned/pinned-wheel.ts';
export { type PresetName, presets } from '../wheel/presets.ts';
export type {
  AdvanceResult,
  FireHandler,
  LevelStats,
  TimingWheel,
  WheelMemoryStats,
  WheelTimer,
} from '../wheel/timing-wheel.ts';
export type {
  CascadingConfig,
  CompactionConfig,
  PinnedConfig,
  WheelConfig,
  WheelOptions,
} from '../wheel/wheel-config.ts';
export type { IndexSnapshot, WheelSnapshot } from '../wheel/wheel-snapshot.ts';
