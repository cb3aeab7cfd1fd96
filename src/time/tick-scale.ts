// Taken once: a program may replace them.
const { ceil, floor, log2, round } = Math;

/**
 * The only conversion between times and ticks. Tick n is the time n × `tick` ms.
 *
 *     timeOf(tickAtOrAfter(t))  >= t  >  timeOf(tickAtOrAfter(t) - 1)
 *     timeOf(tickAtOrBefore(t)) <= t  <  timeOf(tickAtOrBefore(t) + 1)
 *
 * Both hold for doubles, not only on paper: if a division was rounded to the wrong side of an
 * integer, a comparison of products corrects the result. A timer filed at tickAtOrAfter(deadline) and fired at
 * tickAtOrBefore(now) is therefore never early. For a tick that is a power of two a multiplication is exact.
 */
export class TickScale {
  /** Milliseconds per tick; may be fractional. */
  readonly tick: number;

  /** 1 / tick if that is exact, else 0. */
  readonly inverse: number;

  constructor(tick: number) {
    this.tick = tick;
    this.inverse = 2 ** round(log2(tick)) === tick ? 1 / tick : 0;
  }

  timeOf(tick: number): number {
    return tick * this.tick;
  }

  tickAtOrAfter(time: number): number {
    if (this.inverse !== 0) return ceil(time * this.inverse);
    const tick = ceil(time / this.tick);
    if (tick * this.tick < time) return tick + 1;
    return (tick - 1) * this.tick >= time ? tick - 1 : tick;
  }

  tickAtOrBefore(time: number): number {
    if (this.inverse !== 0) return floor(time * this.inverse);
    const tick = floor(time / this.tick);
    if (tick * this.tick > time) return tick - 1;
    return (tick + 1) * this.tick <= time ? tick + 1 : tick;
  }
}
