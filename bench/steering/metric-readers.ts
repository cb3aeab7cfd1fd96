import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import type { Scheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';

class HandReader extends MetricReader {
  constructor() {
    super({});
  }

  protected async onForceFlush(): Promise<void> {}

  protected async onShutdown(): Promise<void> {}
}

/** By name: sets up what reads a scheduler's metrics, and returns what reads them once. */
export const metricReaders: Readonly<Record<string, (scheduler: Scheduler) => () => Promise<unknown>>> = {
  'stats()': (scheduler) => () => scheduler.stats(),
  'interval().next()': (scheduler) => {
    const interval = scheduler.statsInterval();
    return async () => interval.next();
  },
  Prometheus: (scheduler) => {
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    return () => registry.metrics();
  },
  OpenTelemetry: (scheduler) => {
    const reader = new HandReader();
    observeMetrics(scheduler, new MeterProvider({ readers: [reader] }).getMeter('bench'));
    return () => reader.collect();
  },
};
