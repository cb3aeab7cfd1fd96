import type { CompactionConfig, WheelConfig } from './wheel-config.ts';

export type PresetName = 'default' | 'janestreet' | 'pinned3' | 'ustack' | 'twolevel' | 'blitz';

/** Thresholds of the pinned-three-level document. */
export const defaultCompaction: CompactionConfig = { minCapacity: 64, ratio: 4, targetMultiplier: 2 };

/** Units: milliseconds, except janestreet (the unit of its precision) and pinned3 and twolevel (nanoseconds). */
export const presets: Record<PresetName, WheelConfig> = {
  /** 4 x 256 slots of 1 ms: 49.7 days, and a list for later deadlines. */
  default: { engine: 'cascading', precision: 1, levelBits: [8, 8, 8, 8], overflow: 'list' },

  /**
   * Jane Street's Timing_wheel. Deviations:
   * - level bits 11,10,10,10,10,10 sum to 61, and a safe integer holds 53: the last level has 2 bits.
   * - cost of an advance: by occupied slots met, not by the ticks advanced over.
   * - firing order within an interval is the order scheduled; the original states none.
   * - handlers may use the wheel; the original leaves that unspecified.
   * - removing an alarm twice answers false; the original raises, or (in its queue) "may or may not" detect it.
   */
  janestreet: {
    engine: 'cascading',
    precision: 1,
    levelBits: [11, 10, 10, 10, 10, 2],
    overflow: 'throw',
    past: 'throw',
    rounding: 'next',
  },

  /**
   * Three wheels whose timers never move, 2^20, 2^30 and 2^36 ns per tick. Deviations, the original's defects in
   * brackets:
   * - the level follows from the distance to now [from the wheel's start, so that after 19.5 hours every timer is
   *   refused].
   * - a slot's generation changes with every reuse and never with compaction [the other way round: a reused slot
   *   accepts a stale id, and compaction kills the ids of live timers, which the same page calls stable].
   * - stopping at the limit leaves the tick mark where it is [advanced, so the rest waited for a whole turn of the
   *   wheel].
   * - a timer of a coarse level fires at the first tick of that level at or after its deadline [the spoke of the tick
   *   that *holds* the deadline was read when that tick began, before the deadline: not due yet, it waited for a whole
   *   turn].
   * - spokes 0 to 1022 ahead of now's are used, so that a spoke never holds two turns [deadlines at the coverage
   *   exactly shared the spoke being read].
   * - timers of one instant fire in the order scheduled, over all levels [level by level, in order of reused slots].
   * - deadline 0 is a time like any other [InvalidDeadline]; one in the past is due at the next tick.
   */
  pinned3: {
    engine: 'pinned',
    levels: [
      { precision: 2 ** 20, spokes: 1024 },
      { precision: 2 ** 30, spokes: 1024 },
      { precision: 2 ** 36, spokes: 1024 },
    ],
    compaction: defaultCompaction,
  },

  /**
   * ustack's 4 x 256 slots of 1 ms with occupancy bitmaps. Deviations:
   * - nothing wraps round: occupied slots lie after now's own [findNext masks the low bits of its first word and
   *   forgets them when it wraps, so a slot just behind is never found].
   * - next expiration is exact on every level [wrong above level 0, so tickTo jumps too far].
   * - a jump cascades every slot that it reaches the start of [tickTo processes the current level 0 slot only, and
   *   jumps over the wrap of level 0 when nothing is due before it].
   * - the longest delay is no limit: an overflow list holds it [clamped to 2^32 - 1 ms: fires early].
   */
  ustack: { engine: 'cascading', precision: 1, levelBits: [8, 8, 8, 8], overflow: 'list' },

  /**
   * Two levels of 1024 slots, 2^20 ns per tick. Deviations:
   * - the level follows from the distance to now [an absolute deadline is compared with a coverage: after the first
   *   second everything goes to the coarse level].
   * - a coarse slot cascades when the clock reaches its start [after its end: l1_current_tick is cascaded once now is
   *   past it, so its timers are late by up to a second, and cascade into level 0 spokes already read].
   * - a cascaded timer is filed under its own id [a new id is given out and dropped: cancel finds nothing].
   * - timers in the slot of the coarse level's own turn cannot collide with those a turn ahead [spoke = tick & mask,
   *   with no check of the range].
   */
  twolevel: { engine: 'cascading', precision: 2 ** 20, levelBits: [10, 10], overflow: 'throw' },

  /**
   * blitz-io's 5 x 64 slots of 1 ms. Deviations:
   * - the slot is named by the bits of the due tick, as cascading reads it [by the distance, while cascading goes by
   *   absolute position: a timer is met a turn late, or early].
   * - ticks round up [down, so that a timer fires up to 1 ms early].
   * - the overflow list re-enters the wheel when the clock enters its range [never described].
   * - beyond the range starts at 2^30 ticks [MAX_WHEEL_DURATION is compared after OR-ing the slot mask, off by up to
   *   63].
   * - cancelling takes the timer out and its memory with it [a flag, the entry staying for up to 12 days].
   * - what cascades in the tick being fired fires in it [level 0's slot 0 is cascaded into after it was current].
   */
  blitz: { engine: 'cascading', precision: 1, levelBits: [6, 6, 6, 6, 6], overflow: 'list' },
};
