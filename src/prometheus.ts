export type { ExporterOptions } from './exporters/exporter-options.ts';
export { registerMetrics } from './exporters/register-metrics.ts';
