export type { ExporterOptions } from '../extras/exporters/exported.ts';
export { type PrometheusRegistry, registerMetrics } from '../extras/exporters/register-metrics.ts';
