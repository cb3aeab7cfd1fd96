/**
 * Ticks run up to 2^53, but a word that one thread may read while another writes it has 32 bits. A due word is the low
 * half of a due tick. With another tick within 2^31 of it, it gives the whole tick:
 *
 *     |tick - base| < 2^31   ⇒   tickFrom(wordOf(tick), base) === tick
 *
 * Where the two may lie further apart, whole ticks travel (as low and high word) in a command.
 */

/** Distance within which ticks count as near: half of what words could distinguish, so neither side need be exact. */
export const WORD_REACH = 2 ** 30;

const WORD = 2 ** 32;

export const wordOf = (tick: number): number => tick | 0;

/** The high half of a tick >= 0. */
export const highWordOf = (tick: number): number => (tick / WORD) | 0;

export const tickOfWords = (low: number, high: number): number => high * WORD + (low >>> 0);

/** Writes a tick, or Infinity, into two words; whoever reads them has to be told of it. */
export function writeTick(words: Int32Array, at: number, tick: number): void {
  words[at] = wordOf(tick);
  words[at + 1] = tick === Number.POSITIVE_INFINITY ? NO_TICK : highWordOf(tick);
}

export const readTick = (words: Int32Array, at: number): number =>
  words[at + 1] === NO_TICK ? Number.POSITIVE_INFINITY : tickOfWords(words[at], words[at + 1]);

/** A high word that no tick has. */
const NO_TICK = -1;

/** The tick of a due word, given a base tick near it. */
export const tickFrom = (word: number, base: number): number => base + ((word - (base | 0)) | 0);

/** The tick of a due word that is at most `latest`, and less than 2^32 ticks before it. */
export const tickUpTo = (word: number, latest: number): number => latest - (((latest | 0) - word) >>> 0);

/**
 * Maximum of ticks by which slack moves a due tick after that of its deadline: near ticks stay within what words can
 * distinguish.
 */
export const MAX_SLACK = 2 ** 29;

/**
 * The due tick of a due word, given the tick of its deadline: up to MAX_SLACK later, unless it was overdue when it was
 * set. Then it is the latest that may be, up to the next tick. `now` is the clock's tick. While a timer is moved to
 * far, an old word may be taken for slack: the command of the move corrects that.
 */
export function dueTickFrom(word: number, deadlineTick: number, now: number): number {
  const tick = Math.min(deadlineTick, Number.MAX_SAFE_INTEGER);
  const wait = (word - (tick | 0)) >>> 0;
  // A deadline at which the clock began, or before, had passed when it was set.
  if (wait <= MAX_SLACK && tick > 0 && tick + wait <= Number.MAX_SAFE_INTEGER) return tick + wait;
  return tick <= now ? tickUpTo(word, now + 1) : tickFrom(word, now);
}

/** Ticks from one due word to another; positive if `to` is later. */
export const ticksBetween = (from: number, to: number): number => (to - from) | 0;
