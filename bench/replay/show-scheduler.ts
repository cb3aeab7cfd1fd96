import type { Scheduler } from 'shardwheel';
import type { ReplayOptions } from './options.ts';

/** Serves the page of `--dashboard`, which ends with its scheduler, and says where. What it costs is in the figures. */
export async function showScheduler(scheduler: Scheduler, { dashboard }: ReplayOptions): Promise<void> {
  if (dashboard === undefined) return;
  // Imported here, so that a replay without a page does not load its code.
  const { serveDashboard } = await import('shardwheel/dashboard');
  const { url } = await serveDashboard(scheduler, dashboard === true ? {} : { port: dashboard });
  const { stderr } = process;
  // in place of the progress, which comes again
  stderr.write(`${stderr.isTTY ? '\r\x1b[K' : ''}dashboard     ${url}\n`);
}
