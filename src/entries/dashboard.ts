export type { DashboardOptions } from '../extras/dashboard/options.ts';
export { DashboardError } from '../extras/dashboard/options.ts';
export { type Dashboard, serveDashboard } from '../extras/dashboard/serve-dashboard.ts';
