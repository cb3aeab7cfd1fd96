export type { ExporterOptions } from '../extras/exporters/exported.ts';
export { type OpenTelemetryMeter, observeMetrics } from '../extras/exporters/observe-metrics.ts';
