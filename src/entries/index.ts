export type { SchedulerConnectOptions, SchedulerOptions } from '../assembly/options.ts';
export type { ClientStats } from '../assembly/sharing.ts';
export type { IntervalStats, StatsInterval } from '../assembly/stats-interval.ts';
export type { MissedCalls } from '../client/call-grids.ts';
export type { TimerCallback } from '../client/client-lane.ts';
export type { FailedTimer, FiredBatch } from '../client/delivery-events.ts';
export type { LabelStats } from '../client/labels/label-counts.ts';
export type { LabelOptions } from '../client/labels/label-registry.ts';
export type { LateTimer } from '../client/late-timers.ts';
export type { LiveTimer, UnfiredTimer } from '../client/live-timers.ts';
export {
  AbortError,
  AllocationError,
  CapacityExceededError,
  DeadlineTooFarError,
  InvalidArgumentError,
  InvalidConfigError,
  InvalidDeadlineError,
  MissingFileError,
  RenamedError,
  SchedulerClosedError,
  ShardFailedError,
  ShardHungError,
  ShardInlineError,
  TimeoutError,
  UnsupportedRuntimeError,
} from '../errors.ts';
export { MetricsError } from '../extras/exporters/exported.ts';
export type { ShardRestart } from '../hosts/restart-policy.ts';
export type { Serving } from '../hosts/serving.ts';
export type { ThreadOptions } from '../hosts/thread-options.ts';
export { LATENESS_BOUNDS, type Lateness, type LatenessBucket } from '../metrics/lateness-histogram.ts';
export { connectScheduler, createScheduler } from '../scheduler/create-scheduler.ts';
export type { DeadlineSignal } from '../scheduler/deadline-signal.ts';
export type { AdvanceOptions } from '../scheduler/manual-clock.ts';
export type { RepeatOptions } from '../scheduler/repeat-options.ts';
export type { Scheduler } from '../scheduler/scheduler.ts';
export type { SchedulerEvents } from '../scheduler/scheduler-events.ts';
export type { ShardStats } from '../scheduler/shard-answers.ts';
export type { LaneQueues, ShardWheel, WheelLevel } from '../scheduler/shard-wheels.ts';
export type { SchedulerStats, StatsOptions, StatsWarning } from '../scheduler/stats.ts';
export type { TimerGroup, TimerStarts, WorkerHint } from '../scheduler/timer-group.ts';
export type { ScaleOptions, TimerLabel } from '../scheduler/timer-label.ts';
export type { WaitOptions } from '../scheduler/wait-start.ts';
export type { BoundedWork } from '../scheduler/waits.ts';
export { type LateTimersMessage, watchLateness } from '../scheduler/watch-lateness.ts';
export type { LaneCounters } from '../shard/lane-counters.ts';
export type { ShardCounters } from '../shard/shard.ts';
export type { SchedulerHandle } from '../sharing/handle.ts';
export { HandleError } from '../sharing/handle.ts';
export type { WallClockTime } from '../time/wall-clock-time.ts';
export {
  decodeTimerId,
  encodeTimerId,
  type TimerId,
  type TimerIdLayout,
  type TimerIdParts,
  timerIdLayout,
} from '../timer-id.ts';
export { createTimers, type Timers } from '../timers/create-timers.ts';
export type { LongDelays, TimersOptions } from '../timers/timeout-source.ts';
export type { PresetName } from '../wheel/presets.ts';
export type { WheelConfig } from '../wheel/wheel-config.ts';
