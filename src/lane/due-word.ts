/**
 * Ticks run up to 2^53, a word that a thread may read while another writes it has 32 bits. A due word is the low half
 * of a due tick, and gives it to whoever knows another tick within 2^31 of it:
 *
 *     |tick - base| < 2^31   ⇒   tickFrom(wordOf(tick), base) === tick
 *
 * Where the two may lie further apart, whole ticks travel (as low and high word) in a command.
 */

/** Ticks that count as near to one another: half of what words could tell apart, so that neither side need be exact. */
export const NEAR = 2 ** 30;

const WORD = 2 ** 32;

export const wordOf = (tick: number): number => tick | 0;

/** The high half of a tick >= 0. */
export const highWordOf = (tick: number): number => (tick / WORD) | 0;

export const tickOfWords = (low: number, high: number): number => high * WORD + (low >>> 0);

/** The tick that a due word means, seen from a base tick. */
export const tickFrom = (word: number, base: number): number => base + ((word - (base | 0)) | 0);

/** The tick that a due word means, where it is known to be `latest` at the latest, and less than 2^32 ticks before. */
export const tickUpTo = (word: number, latest: number): number => latest - (((latest | 0) - word) >>> 0);

/** Most ticks that a due tick may lie after that of its deadline, by slack: what is near stays within what words tell apart. */
export const MAX_SLACK = 2 ** 29;

/**
 * The due tick that a due word means, given the tick of its deadline: up to MAX_SLACK later, where it was not overdue when it
 * was set. `now` is the clock's tick. Of a timer that is being moved to far an old word may be taken for slack: the command that
 * the move stages puts it right.
 */
export function dueTickFrom(word: number, deadlineTick: number, now: number): number {
  const tick = Math.min(deadlineTick, Number.MAX_SAFE_INTEGER);
  const wait = (word - (tick | 0)) >>> 0;
  if (wait <= MAX_SLACK && tick + wait > now && tick + wait <= Number.MAX_SAFE_INTEGER) return tick + wait;
  return tick <= now ? tickUpTo(word, now + 1) : tickFrom(word, now);
}

/** Ticks from one due word to another; positive where `to` is later. */
export const ticksBetween = (from: number, to: number): number => (to - from) | 0;
