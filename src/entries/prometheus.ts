export type { ExporterOptions } from '../exporters/exporter-options.ts';
export { type PrometheusRegistry, registerMetrics } from '../exporters/register-metrics.ts';
