/**
 * A timer id is one safe integer, so that it costs no allocation, compares with ===, and works as a key anywhere:
 *
 *    52                                                              0
 *   ┌────────────┬──────────────────────────────┬────────────────────┐
 *   │   shard    │          generation          │        slot        │
 *   └────────────┴──────────────────────────────┴────────────────────┘
 *    ⌈log2 shards⌉   all bits that are left        ⌈log2 capacity⌉
 *
 * A slot's generation changes with every timer. 2 shards of 2^22 slots leave 30 bits: a slot's ids could
 * repeat after 2^30 of its timers. They do not: a slot that has used up its generations is retired for good
 * (see `TimerRecords` for a wheel, `TimerTable` for a lane), and a shard has 2^52 ids before its last slot is retired.
 *
 * Fields are cut with multiplications by powers of two, which are exact on doubles, and with `|0`, which takes a
 * double's low 32 bits: bit operators alone would lose everything above bit 31, and `%` on doubles is slow.
 */

/** A safe integer that names one timer for ever: shard, generation and slot. */
export type TimerId = number;

/** The layout of the 53 bits of an id. Made by {@link timerIdLayout}. */
export interface TimerIdLayout {
  readonly shardBits: number;
  readonly generationBits: number;
  readonly slotBits: number;
}

export interface TimerIdParts {
  shard: number;
  generation: number;
  slot: number;
}

export const TIMER_ID_BITS = 53;
/** Maximum of bits for a slot: a shard holds at most 2^24 timers. */
export const MAX_SLOT_BITS = 24;

const bitsFor = (count: number): number => (count <= 1 ? 0 : 32 - Math.clz32(count - 1));

/**
 * Returns the layout for `shards` shards (0 counts as 1) of `capacity` slots each: the generation gets all remaining
 * bits.
 */
export function timerIdLayout(shards: number, capacity: number): TimerIdLayout {
  const shardBits = bitsFor(shards);
  const slotBits = bitsFor(capacity);
  return { shardBits, generationBits: TIMER_ID_BITS - shardBits - slotBits, slotBits };
}

/**
 * Returns the generation with which each slot of a client begins, so that no two clients of a scheduler give the same
 * ids: the serials 0, 1, 2, … are spread over all generations, as far apart as there is room (van der Corput's
 * sequence). `start`: at random, from 0 to 1, the same for all clients of a scheduler.
 */
export function firstGeneration(start: number, serial: number, { generationBits }: TimerIdLayout): number {
  let spread = 0;
  let share = 0.5;
  for (let left = serial; left > 0; left = Math.floor(left / 2)) {
    spread += share * (left % 2);
    share /= 2;
  }
  return Math.floor(((start + spread) % 1) * 2 ** Math.min(47, generationBits));
}

/** Returns the id of the timer that is (or was) the `generation`-th in `slot` of `shard`. Parts must fit the layout. */
export function encodeTimerId({ shard, generation, slot }: TimerIdParts, layout: TimerIdLayout): TimerId {
  return (shard * 2 ** layout.generationBits + generation) * 2 ** layout.slotBits + slot;
}

/** Returns the parts of an id; for any safe integer >= 0 the inverse of {@link encodeTimerId} under the same layout. */
export function decodeTimerId(id: TimerId, layout: TimerIdLayout): TimerIdParts {
  const slots = 2 ** layout.slotBits;
  const generations = 2 ** layout.generationBits;
  const upper = Math.floor(id / slots);
  const shard = Math.floor(upper / generations);
  return { shard, generation: upper - shard * generations, slot: id - upper * slots };
}
