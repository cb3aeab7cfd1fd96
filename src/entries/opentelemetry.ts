export type { ExporterOptions } from '../exporters/exported.ts';
export { type OpenTelemetryMeter, observeMetrics } from '../exporters/observe-metrics.ts';
