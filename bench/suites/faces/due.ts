import { performance } from 'node:perf_hooks';

/** ms from the last of a batch, each of 1 ms, until all of them are due by either face's clock and ticks. */
const UNTIL_DUE = 3;

/** Keeps the event loop busy until a batch that has just been set is due: waiting is no part of what is measured. */
export function stayBusyUntilDue(): void {
  const end = performance.now() + UNTIL_DUE;
  while (performance.now() < end);
}
