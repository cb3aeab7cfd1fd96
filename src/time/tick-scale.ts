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

// Taken once: a program may replace them.
const { clz32 } = Math;

/**
 * Slack: a timer may come up to `slack` ticks late. Of these ticks, it is due at the one whose number ends in the most
 * zero bits, and so together with others. Linux rounds its timers by the same rule (`apply_slack`).
 *
 *     tick − 1        … 1 0 1 0 1 1        the number begins like both, and has a one where they first differ:
 *     tick + slack    … 1 1 0 0 0 1        above `tick − 1`, with zeros after it
 *                     ───────────────
 *     due             … 1 1 0 0 0 0
 *
 *     tick <= coincidingTick(tick, slack) <= tick + slack                 equal to tick if slack = 0
 *     a <= b  ⇒  coincidingTick(a, slack) <= coincidingTick(b, slack)
 *     it is a multiple of the granule, the largest power of two <= slack + 1
 *
 * Of a deadline's tick, once: that of a due tick may be another. With slack 2, tick 5 is due at 6, and tick 6 at 8.
 */
export function coincidingTick(tick: number, slack: number): number {
  const last = (tick + slack) | 0;
  const word = last & (FIRST_BIT >> clz32((tick - 1) ^ last)); // the low half suffices, since slack < 2^32
  return tick + ((word - tick) >>> 0);
}

const FIRST_BIT = 1 << 31;
