import { performance } from 'node:perf_hooks';

/** Runs it, and returns how many ns it took for each of `count` things. */
export function nanosecondsEach(count: number, run: () => void): number {
  const start = performance.now();
  run();
  return ((performance.now() - start) * 1e6) / count;
}
