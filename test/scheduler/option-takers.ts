import { connectScheduler, createScheduler, createTimers, type Scheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import {
  type BullmqStoreOptions,
  bullmqStore,
  type DurableTimers,
  lmdbStore,
  memoryStore,
  openDurableTimers,
} from 'shardwheel/durable';
import { socketTimeouts } from 'shardwheel/net';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { useScheduler } from 'shardwheel/timers';
import { CascadingWheel, createWheel, PinnedWheel, presets } from 'shardwheel/wheel';

export const meter = {
  createObservableCounter: () => ({}),
  createObservableGauge: () => ({}),
  createObservableUpDownCounter: () => ({}),
  addBatchObservableCallback: () => undefined,
  removeBatchObservableCallback: () => undefined,
};
export const registry = {
  registerMetric: () => undefined,
  getSingleMetric: () => undefined,
  removeSingleMetric: () => undefined,
};
/** Every call that takes options, and every group of options. */
export const optionTakers = (
  scheduler: Scheduler,
  durable: DurableTimers,
): Record<string, (options: never) => unknown> => ({
  createScheduler: (options) => createScheduler(options),
  'createScheduler({ thread })': (thread) => createScheduler({ shards: 0, thread }),
  'createScheduler({ thread: { inlineAfter } })': (inlineAfter) =>
    createScheduler({ shards: 0, thread: { inlineAfter } }),
  'createScheduler({ thread: { resourceLimits } })': (resourceLimits) =>
    createScheduler({ shards: 0, thread: { resourceLimits } }),
  connectScheduler: (options) => connectScheduler(scheduler.share(), options),
  scheduleEvery: (options) => scheduler.scheduleEvery(1, 5, undefined, undefined, options),
  'label().scheduleEvery': (options) => scheduler.label('a').scheduleEvery(1, 5, undefined, undefined, options),
  'group().scheduleEvery': (options) => scheduler.group('a').scheduleEvery(5, undefined, undefined, options),
  label: (options) => scheduler.label('with options', options),
  'label().setScale': (options) => scheduler.label('scaled', { min: 1 }).setScale(0.5, options),
  sleep: (options) => scheduler.sleep(5, options),
  withTimeout: (options) => scheduler.withTimeout(Promise.resolve(), 5, options),
  signalAfter: (options) => scheduler.signalAfter(5, options),
  createTimers: (options) => createTimers(scheduler, options),
  useScheduler: (options) => useScheduler(scheduler, options),
  createWheel: (options) => createWheel('default', options),
  CascadingWheel: (options) => new CascadingWheel(presets.default as never, options),
  PinnedWheel: (options) => new PinnedWheel(presets.pinned3 as never, options),
  registerMetrics: (options) => registerMetrics(scheduler, registry, options),
  observeMetrics: (options) => observeMetrics(scheduler, meter, options),
  socketTimeouts: (options) => socketTimeouts(scheduler, options),
  serveDashboard: (options) => serveDashboard(scheduler, options),
  openDurableTimers: (options) => openDurableTimers(options),
  'openDurableTimers({ retry })': (retry) => openDurableTimers({ store: memoryStore(), retry }),
  'durable.schedule': (options) => durable.schedule('a', 'b', 2 ** 40, undefined, options),
  'durable.handle': (options) => durable.handle('handled', () => undefined, options),
  'durable.close': (options) => durable.close(options),
  lmdbStore: (options) => lmdbStore(options),
  bullmqStore: (options) => bullmqStore(options as BullmqStoreOptions),
});
