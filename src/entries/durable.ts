export type { RetryOptions } from '../extras/durable/attempts/retry-policy.ts';
export { type BullmqModule, type BullmqStoreOptions, bullmqStore } from '../extras/durable/bullmq-store.ts';
export {
  AttemptEndedError,
  DurableStoreError,
  DurableTimersClosedError,
  PayloadError,
} from '../extras/durable/durable-error.ts';
export type { DurableOptions } from '../extras/durable/durable-options.ts';
export type { DurableStats, StoreStats } from '../extras/durable/durable-stats.ts';
export type { DurableStore } from '../extras/durable/durable-store.ts';
export type {
  CloseOptions,
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
} from '../extras/durable/durable-timer.ts';
export { type DurableTimers, openDurableTimers } from '../extras/durable/durable-timers.ts';
export { type LmdbStoreOptions, lmdbStore } from '../extras/durable/lmdb-store.ts';
export { memoryStore } from '../extras/durable/memory-store.ts';
export type { PayloadFormat } from '../extras/durable/payload-codec.ts';
export { type ManualWallClock, manualWallClock } from '../extras/durable/wall-clock.ts';
