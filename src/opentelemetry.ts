export type { ExporterOptions } from './exporters/exporter-options.ts';
export { observeMetrics } from './exporters/observe-metrics.ts';
