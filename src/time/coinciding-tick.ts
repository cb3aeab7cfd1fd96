/**
 * Slack: a timer that may come up to `slack` ticks late is due at that of the ticks it may come at whose number ends in the most
 * zero bits, and so with others that may come then. Linux rounds its timers by the same rule (`apply_slack`).
 *
 *     tick − 1        … 1 0 1 0 1 1        the number begins as both do, and has a one where they first differ:
 *     tick + slack    … 1 1 0 0 0 1        above `tick − 1`, and with zeros from there on
 *                     ───────────────
 *     due             … 1 1 0 0 0 0
 *
 *     tick <= coincidingTick(tick, slack) <= tick + slack                 equal to tick where slack = 0
 *     a <= b  ⇒  coincidingTick(a, slack) <= coincidingTick(b, slack)
 *     it is a multiple of the granule, the largest power of two <= slack + 1
 */
export function coincidingTick(tick: number, slack: number): number {
  const last = (tick + slack) | 0;
  const word = last & (FIRST_BIT >> Math.clz32((tick - 1) ^ last)); // the low half will do, as slack < 2^32
  return tick + ((word - tick) >>> 0);
}

const FIRST_BIT = 1 << 31;

/** The last tick with `coincidingTick(tick, slack) <= by`. */
export function lastTickDueBy(by: number, slack: number): number {
  let due = by - slack;
  let notDue = by + 1;
  while (notDue - due > 1) {
    const middle = due + Math.floor((notDue - due) / 2);
    if (coincidingTick(middle, slack) <= by) due = middle;
    else notDue = middle;
  }
  return due;
}
