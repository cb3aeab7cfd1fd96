/**
 * Due ticks run up to 2^53, shared words hold 32 bits. A lane therefore carries only the low 32 bits of a due tick and
 * reads them relative to a tick that both sides know within 2^31:
 *
 *     |tick - base| < 2^31   ⇒   tickFrom(wordOf(tick), base) === tick
 *
 * So that this always holds, a client never writes a due tick further ahead than HORIZON. A timer that is due later
 * carries the horizon instead; its shard reports it there, the client sees that its deadline has not come, and writes
 * the next stretch. This is also how a deadline beyond the range of a shard's wheel is held: there is no longest delay.
 */
export const HORIZON = 2 ** 30;

export const wordOf = (tick: number): number => tick | 0;

/** The tick that a due word means, seen from a base tick. */
export const tickFrom = (word: number, base: number): number => base + ((word - (base | 0)) | 0);

/** Ticks from one due word to another; positive where `to` is later. */
export const ticksBetween = (from: number, to: number): number => (to - from) | 0;
