import { allocateGroups, allocateSlots, allocateWords, WORDS_PER_GROUP } from '../memory/shared-words.ts';
import type { RingCounters, RingMemory } from './ring.ts';

/**
 * A lane is everything between one client and one shard: a header of counters, the timer table, the command ring
 * (client → shard) and the fired ring (shard → client). This file is its map: the place and the writer of each
 * word. Neither side writes a word of the other's group.
 *
 *   header, client's group              header, shard's group
 *   ┌──────────────┬───────────────┐    ┌──────────────┬──────────────┐
 *   │ command tail │ fired head    │    │ command head │ fired tail   │
 *   │ high water   │ request       │    │ answered     │              │
 *   │ wants room   │               │    │ blocked      │ next due × 2 │
 *   └──────────────┴───────────────┘    └──────────────┴──────────────┘
 *
 *   timer table, written by the client alone                command: slot, tag, tick (low, high)
 *   record, 16 bytes                                        fired record: slot, tag
 *   ┌───────────┬───────────┬───────────────────────┐
 *   │ due (i32) │ tag (i32) │     deadline (f64)    │       All that a call reads or writes of a timer stands in
 *   └───────────┴───────────┴───────────────────────┘       one cache line.
 *
 *   due   the low 32 bits of the due tick: see `lane/due-word.ts`
 *   tag   the low 31 bits of the slot's generation, then one bit: live
 *   deadline   as requested, in ms
 */
export interface LaneMemory {
  readonly capacity: number;
  readonly header: SharedArrayBuffer;
  /**
   * For all slots; where that was refused, for those that there are, and replaced by a larger one as they become more.
   */
  table: SharedArrayBuffer;
  readonly commands: RingMemory;
  readonly fired: RingMemory;
}

/** Slot s's record begins at word s << RECORD_SHIFT. */
export const RECORD_SHIFT = 2;
export const DUE = 0;
export const TAG = 1;

/** The same record in doubles. */
export const DOUBLES_SHIFT = 1;
export const DEADLINE = 1;

const CLIENT_GROUP = 0;
const SHARD_GROUP = WORDS_PER_GROUP;

const COMMAND_TAIL = CLIENT_GROUP;
const FIRED_HEAD = CLIENT_GROUP + 1;
/** Slots below this have been used; a shard that rebuilds its index reads the table up to here. */
export const HIGH_WATER = CLIENT_GROUP + 2;
/** Number of the client's latest request for a report that the shard has caught up with the clock. */
export const REQUEST = CLIENT_GROUP + 3;
/** 1 while the client keeps commands back because the ring is full. */
export const WANTS_ROOM = CLIENT_GROUP + 4;

const COMMAND_HEAD = SHARD_GROUP;
const FIRED_TAIL = SHARD_GROUP + 1;
/** The latest request for which the shard has caught up; its fired records were published before. */
export const ANSWERED = SHARD_GROUP + 2;
/** 1 while the shard has due timers and no room for fired records: the client rings when it has taken some. */
export const BLOCKED = SHARD_GROUP + 3;

/** The tick at which the shard next fires a timer, as it was at its latest answer: a low and a high word. */
export const NEXT_DUE = SHARD_GROUP + 4;

export const commandCounters = (words: Int32Array): RingCounters => ({ words, tail: COMMAND_TAIL, head: COMMAND_HEAD });
export const firedCounters = (words: Int32Array): RingCounters => ({ words, tail: FIRED_TAIL, head: FIRED_HEAD });

/** Number of records in each ring of a lane; powers of two. */
export interface RingSizes {
  readonly commands: number;
  readonly fired: number;
}

/**
 * Commands should find room even if many timers are scheduled at once. The fired ring only needs to keep the client
 * busy while its shard wakes: a shard that hands over many at a time takes the processor from the event loop.
 */
export const DEFAULT_RING_SIZES: RingSizes = { commands: 2 ** 16, fired: 2 ** 13 };

/** For a lane that no other thread ever serves: no command goes through its ring. */
export const INLINE_RING_SIZES: RingSizes = { commands: 1, fired: DEFAULT_RING_SIZES.fired };

/** Throws AllocationError if there is not even memory for a few slots. */
export function allocateLane(capacity: number, sizes: RingSizes = DEFAULT_RING_SIZES): LaneMemory {
  const ring = (records: number, stride: number): RingMemory => ({ cells: allocateWords(records * stride), stride });
  return {
    capacity,
    header: allocateGroups(2),
    table: allocateSlots(1 << RECORD_SHIFT, capacity),
    commands: ring(sizes.commands, 4),
    fired: ring(sizes.fired, 2),
  };
}
