import { dueTickFrom, MAX_SLACK, WORD_REACH } from '../lane/due-word.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import { coincidingTick, type TickScale } from '../time/tick-scale.ts';
import { warnOfWallClock } from './arguments.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** Converts a slack in ms to whole ticks, rounded down so that no timer is later than that. NaN if it is invalid: see `slackRange`. */
export function slackInTicks(slack: unknown, scale: TickScale): number {
  if (typeof slack !== 'number' || !(slack >= 0)) return Number.NaN;
  const ticks = scale.tickAtOrBefore(slack);
  return ticks <= MAX_SLACK ? ticks : Number.NaN;
}

/** What a slack must be, for an error. */
export const slackRange = (scale: TickScale): string => `must be ms from 0 to ${scale.timeOf(MAX_SLACK)}`;

/** The client's time between two readings of the clock, and the due ticks that follow from it. */
export class ClientTime {
  /** The clock at the last reading, in ms, and its tick: never ahead of the time, and at most some ms behind. */
  now = 0;
  tick = 0;
  /** Deadlines before this are near: see `lane/due-word.ts`. */
  wordReachEnd = Number.NaN; // V8: double fields
  /** Deadlines before this may take the fast path. Like wordReachEnd, but nothing is before it if a tick is not a power of two in ms. */
  fastPathEnd = Number.NaN;
  /**
   * Deadlines before this must request a turn, because none is scheduled in time; or they have passed. The turn clock sets it:
   * infinite until a turn is scheduled, and always with a manual clock.
   */
  urgentBefore = Number.POSITIVE_INFINITY;
  /** The time of the tick after `tick`. */
  nextTickTime = Number.NaN;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /**
   * Ticks per ms if a tick is a power of two in ms. For a deadline from `timeOf(tick)` to `fastPathEnd`, without slack, `dueTickOf`
   * is then ceil(deadline · ticksPerMs).
   */
  readonly ticksPerMs: number = Number.NaN;

  constructor(clock: SharedClock, scale: TickScale) {
    this.clock = clock;
    this.scale = scale;
    this.ticksPerMs = scale.inverse;
    this.note(0);
  }

  /** Reads the clock; returns the time in ms. */
  read(): number {
    const now = this.clock.refresh();
    this.now = now;
    this.note(this.scale.tickAtOrBefore(now));
    return now;
  }

  /** The due tick of a deadline, with a slack in ticks; the next tick at the earliest. It never falls as the deadline rises. */
  dueTickOf(deadline: number, slack: number): number {
    if (deadline >= this.wordReachEnd) warnOfWallClock(deadline, this.nextTickTime);
    return min(max(this.tickWithSlack(deadline, slack), this.tick + 1), LAST_TICK);
  }

  /** The time in ms of a deadline's due tick if there is slack; else the deadline. */
  dueTimeOf(deadline: number, slack: number): number {
    return slack === 0 ? deadline : this.scale.timeOf(this.tickWithSlack(deadline, slack));
  }

  /** The due tick of a deadline, even if it has passed. */
  tickWithSlack(deadline: number, slack: number): number {
    const tick = this.scale.tickAtOrAfter(deadline);
    return slack === 0 ? tick : coincidingTick(tick, slack);
  }

  /** The due tick of a record of the table, as computed when the deadline was set, even if the deadline had passed by then. */
  dueTickOfRecord(deadline: number, due: number): number {
    if (deadline >= this.nextTickTime && deadline < this.fastPathEnd) {
      const tick = ceil(deadline * this.ticksPerMs);
      return tick + ((due - (tick | 0)) >>> 0); // it may have been set with slack
    }
    return dueTickFrom(due, this.scale.tickAtOrAfter(deadline), this.tick);
  }

  private note(tick: number): void {
    this.tick = tick;
    this.nextTickTime = this.scale.timeOf(tick + 1);
    if (this.urgentBefore < this.nextTickTime) this.urgentBefore = this.nextTickTime;
    this.wordReachEnd = this.scale.timeOf(tick + WORD_REACH);
    this.fastPathEnd = this.scale.inverse === 0 ? Number.NEGATIVE_INFINITY : this.wordReachEnd;
  }
}
