export { type BullmqModule, type BullmqStoreOptions, bullmqStore } from '../durable/bullmq-store.ts';
export {
  AttemptEndedError,
  DurableStoreError,
  DurableTimersClosedError,
  PayloadError,
} from '../durable/durable-error.ts';
export type { DurableOptions } from '../durable/durable-options.ts';
export type { DurableStats, StoreStats } from '../durable/durable-stats.ts';
export type { DurableStore } from '../durable/durable-store.ts';
export type {
  DeadLetter,
  DeliveryInfo,
  DurableHandler,
  DurableTimer,
  DurableTimersEvents,
  FailedAttempt,
  HandleOptions,
  NamesWithoutPayload,
  RecoveryProgress,
  ScheduleOptions,
} from '../durable/durable-timer.ts';
export { type DurableTimers, openDurableTimers } from '../durable/durable-timers.ts';
export { type LmdbStoreOptions, lmdbStore } from '../durable/lmdb-store.ts';
export { memoryStore } from '../durable/memory-store.ts';
export type { PayloadFormat } from '../durable/payload-codec.ts';
export type { RetryOptions } from '../durable/retry-policy.ts';
export { type ManualWallClock, manualWallClock } from '../durable/wall-clock.ts';
