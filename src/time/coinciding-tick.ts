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
