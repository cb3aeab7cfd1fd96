import { runtime } from '../runtime.ts';
import { hrtime as nodesHrtime, performanceNow, timeOrigin } from '../unfaked.ts';

/**
 * The process's monotonic clock, seconds and nanoseconds. That of Bun and Deno counts from each thread's own start, so
 * there it counts from 1970 by what the wall clock was at that start: threads differ by what the wall clock was set by
 * between their starts.
 */
const hrtime = runtime === 'node' ? nodesHrtime : sinceOrigin;

function sinceOrigin(): [number, number] {
  const now = timeOrigin + performanceNow();
  const seconds = Math.floor(now / 1000);
  return [seconds, (now - seconds * 1000) * 1e6];
}

/** The moment from which a scheduler counts, on the process's monotonic clock. The same in every thread. */
export interface ClockOrigin {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export const clockOrigin = (): ClockOrigin => {
  const [seconds, nanoseconds] = hrtime();
  return { seconds, nanoseconds };
};

/** Whole ms of the process's monotonic clock, the same in every thread, as a word: it wraps. */
export const processMilliseconds = (): number => {
  const [seconds, nanoseconds] = hrtime();
  return (Math.imul(seconds, 1000) + Math.trunc(nanoseconds / 1e6)) | 0;
};

const CALIBRATIONS = 5;

/**
 * Milliseconds since an origin by the process's monotonic clock. About 37 ns a reading.
 *
 * `process.hrtime` and `performance.now` read the same clock. The first counts from the same moment in every thread but
 * creates an array each time. The second creates nothing but counts from the thread's own start. So the second is read;
 * the difference was measured once. The result is never ahead of the first, and behind it by less than a reading takes.
 */
export class MonotonicClock {
  private readonly offset: number;

  constructor(origin: ClockOrigin) {
    this.offset = offsetFrom(origin);
  }

  now(): number {
    return performanceNow() + this.offset;
  }
}

/** The ms to add to `performanceNow()` for the time since an origin. */
export function offsetFrom(origin: ClockOrigin): number {
  let offset = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < CALIBRATIONS; i++) {
    const [seconds, nanoseconds] = hrtime();
    const later = performanceNow();
    offset = Math.max(offset, (seconds - origin.seconds) * 1e3 + (nanoseconds - origin.nanoseconds) / 1e6 - later);
  }
  return offset;
}
