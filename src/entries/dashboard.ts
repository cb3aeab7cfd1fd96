export type { DashboardOptions } from '../dashboard/options.ts';
export { DashboardError } from '../dashboard/options.ts';
export { type Dashboard, serveDashboard } from '../dashboard/serve-dashboard.ts';
