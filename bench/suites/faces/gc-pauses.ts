import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Pauses {
  readonly count: number;
  /** ms */
  readonly total: number;
  readonly longest: number;
}

/** Turns until Node has reported what the collector did. */
const REPORTED = 3;

/** The pauses of the garbage collector while something runs. */
export async function gcPausesOf(run: () => Promise<void>): Promise<Pauses> {
  const entries: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const start = performance.now();
  await run();
  const end = performance.now();
  for (let turn = 0; turn < REPORTED; turn++) await nextTurn();
  entries.push(...observer.takeRecords());
  observer.disconnect();
  const durations = entries
    .filter(({ startTime }) => startTime >= start && startTime <= end)
    .map(({ duration }) => duration);
  return {
    count: durations.length,
    total: durations.reduce((sum, duration) => sum + duration, 0),
    longest: Math.max(0, ...durations),
  };
}
