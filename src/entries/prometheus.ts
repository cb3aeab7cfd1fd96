export type { ExporterOptions } from '../exporters/exported.ts';
export { type PrometheusRegistry, registerMetrics } from '../exporters/register-metrics.ts';
