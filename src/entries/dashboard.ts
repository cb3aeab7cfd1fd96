export { DashboardError } from '../dashboard/dashboard-error.ts';
export type { DashboardOptions } from '../dashboard/options.ts';
export { type Dashboard, serveDashboard } from '../dashboard/serve-dashboard.ts';
