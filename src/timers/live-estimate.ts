// Taken once: a program may replace them.
const { clz32, max } = Math;

/** Powers of two of a delay in ms: Node's are below 2^31. */
const CLASSES = 32;

/**
 * How many of Node's timers are live, without a list of them, a clock or a timer per call. Sets are counted by the
 * power of two of their delay, in two windows of that length; a clear takes its set back. A turn of the loop rotates
 * the windows whose time is up.
 *
 *     delay of 2^k to 2^(k+1) ms:   │ before, 2^k ms │ now, up to 2^k ms │
 *                                   forgotten as it   counted
 *                                   ends
 *
 * So a set is counted for 2^k to 2 · 2^k ms: half to twice its delay, unless it is cleared before. Timers that wait
 * while the loop is busy stay counted, for no turn rotates. Intervals are counted apart, until they are cleared.
 * Refreshed timers are missed.
 */
export class LiveEstimate {
  private intervals = 0;
  /** Sets in the present window of each class, less clears: may be below 0. */
  private readonly now = new Int32Array(CLASSES);
  private readonly before = new Int32Array(CLASSES);
  /** When the present window began, in ms. */
  private readonly since = new Float64Array(CLASSES);

  /** A timer was set. `delay`: as the program gave it. */
  set(delay: unknown): void {
    this.now[classOf(delay)] += 1;
  }

  /** A live timer was cleared. `delay`: in ms. */
  clear(delay: unknown): void {
    this.now[classOf(delay)] -= 1;
  }

  /** An interval was set, or a live one cleared. */
  addInterval(by: 1 | -1): void {
    this.intervals += by;
  }

  /** The estimate. O(classes): a call only counts. */
  live(): number {
    let sum = this.intervals;
    for (let at = 0; at < CLASSES; at++) sum += max(0, this.now[at] + this.before[at]);
    return max(0, sum);
  }

  /** Called in a turn of the loop, with its time in ms. */
  rotate(time: number): void {
    for (let at = 0; at < CLASSES; at++) {
      const elapsed = time - this.since[at];
      if (elapsed < 2 ** at) continue;
      this.since[at] = time;
      this.before[at] = elapsed < 2 ** (at + 1) ? max(0, this.now[at]) : 0;
      this.now[at] = 0;
    }
  }
}

/** Anything but a number of at least 1 ms is 1 ms, as in Node. */
function classOf(delay: unknown): number {
  const whole = typeof delay === 'number' ? delay | 0 : 1;
  return whole >= 1 ? 31 - clz32(whole) : 0;
}
