import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { createScheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';

const reader = new PeriodicExportingMetricReader({
  exporter: new ConsoleMetricExporter(), // in a program one of OTLP
  exportIntervalMillis: 15_000,
});
const provider = new MeterProvider({ readers: [reader] });

const scheduler = createScheduler();
observeMetrics(scheduler, provider.getMeter('shardwheel'));

await new Promise((resolve) => scheduler.scheduleAfter('connection 1', 20, resolve));
await provider.shutdown(); // exports once more
await scheduler.close();
