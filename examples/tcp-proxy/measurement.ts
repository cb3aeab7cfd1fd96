import type { SchedulerStats } from 'shardwheel';
import type { LoadReport } from './load.ts';
import type { Route } from './plans.ts';
import type { ConnectionEnd } from './proxy.ts';

/** What a run of the example has seen. */
export interface Measurement {
  report: LoadReport;
  ends: Record<Route, ConnectionEnd[]>;
  /** Of this process while connections were opened: busy share of the event loop, CPU cores used by all threads. */
  loop: number;
  cpu: number;
  /** Timers live at a time, the most that any sample saw. */
  peakTimers: number;
  /** Of the scheduler, when every connection had ended. */
  stats: SchedulerStats;
}
