export type { ExporterOptions } from '../exporters/exporter-options.ts';
export { type OpenTelemetryMeter, observeMetrics } from '../exporters/observe-metrics.ts';
