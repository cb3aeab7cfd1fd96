// Taken once: a test that fakes the timers of its thread replaces these on `process`, and time here must go on.
const hrtime = process.hrtime;

/** The moment that a scheduler counts from, on the process's monotonic clock. The same in every thread. */
export interface ClockOrigin {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export const clockOrigin = (): ClockOrigin => {
  const [seconds, nanoseconds] = hrtime();
  return { seconds, nanoseconds };
};

/** Milliseconds since an origin by `process.hrtime`, the one source of time. About 37 ns a reading. */
export class MonotonicClock {
  private readonly seconds: number;
  private readonly nanoseconds: number;

  constructor(origin: ClockOrigin) {
    this.seconds = origin.seconds;
    this.nanoseconds = origin.nanoseconds;
  }

  now(): number {
    const time = hrtime();
    // Seconds are subtracted before they are scaled: the difference is exact, however long the machine has been up.
    return (time[0] - this.seconds) * 1e3 + (time[1] - this.nanoseconds) / 1e6;
  }
}
