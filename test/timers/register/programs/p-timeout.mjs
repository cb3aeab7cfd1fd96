// p-timeout: bounds that are met, that pass, that fall back, and that are aborted.
import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout, { TimeoutError } from 'p-timeout';
import { inParallel, report, Tally } from './report.mjs';

const tally = new Tally();
const never = new Promise(() => undefined);
const kinds = [
  () => pTimeout(sleep(1, 'met'), { milliseconds: 60_000 }),
  () => pTimeout(never, { milliseconds: 3 }),
  () => pTimeout(never, { milliseconds: 3, fallback: () => 'fallen back' }),
  () => pTimeout(never, { milliseconds: 3, message: false }),
  () => pTimeout(never, { milliseconds: 60_000, signal: AbortSignal.timeout(5) }),
  () => pTimeout(sleep(1, 'unbounded'), { milliseconds: Number.POSITIVE_INFINITY }),
];
await inParallel(2000, 50, async (n) => {
  try {
    tally.add(String(await kinds[n % kinds.length]()));
  } catch (error) {
    tally.add(error instanceof TimeoutError ? 'TimeoutError' : error.name);
  }
});
report(tally.counts);
