import type { ConnectionRecord } from './connection-journal.ts';
import type { Kill } from './event-loops.ts';
import type { LoadReport } from './load.ts';
import type { Route } from './plans.ts';
import type { TimerCounts } from './timer-census.ts';

/** What a run has seen. */
export interface Measurement {
  report: LoadReport;
  records: Record<Route, ConnectionRecord[]>;
  /** Of this process while connections were opened: busy share of each event loop, CPU cores used by all threads. */
  loops: number[];
  cpu: number;
  /** Timers live at a time in all threads, the most that any sample saw. */
  peakTimers: number;
  /** Sockets of the proxy when all connections stood that were to. */
  standingSockets: number;
  /** Of each thread, when every connection had ended. */
  timers: TimerCounts[];
  /** The longest that a loop stood still: of the proxy's threads, or of the load generator. ms */
  stall: number;
  kills: Kill[];
  /** Of each killed thread that lived to be seen, and no more than about 50 ms old when it was killed. */
  timersOfKilled: TimerCounts[];
  /** Clients that the shared scheduler still has, though their threads have ended. */
  clientsLeft: number;
}
