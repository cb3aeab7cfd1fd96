import { dueTickFrom, NEAR } from '../lane/due-word.ts';
import { coincidingTick, lastTickDueBy } from '../time/coinciding-tick.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { warnOfWallClock } from './wall-clock.ts';

const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** What a client knows of the time between two readings of the clock, and the due ticks that follow from it. */
export class ClientTime {
  /** The clock's tick when it was last read: never ahead of the time, and some ms behind at most. */
  tick = 0;
  /** Deadlines before this are near: see `lane/due-word.ts`. */
  nearEnd = Number.NaN; // V8: double fields
  /** As nearEnd; where a tick is not a power of two in ms, and where there is slack, nothing is before it. */
  fastPathEnd = Number.NaN;
  /**
   * A deadline before this needs more than its due word: no turn is coming that would publish it, or that turn comes too
   * late for it, or it has passed. The loop sets it: infinite until the hold timer is set, with a manual clock always.
   */
  urgentBefore = Number.POSITIVE_INFINITY;
  /** The time of the tick after `tick`. */
  nextTickTime = Number.NaN;
  /** By how many ticks a timer that is set now may come later than its tick. */
  slack = 0;
  /** Whether a call has had a slack of its own: due ticks need not rise with deadlines then. */
  hasManySlacks = false;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /**
   * What `dueTickOf` comes to for a deadline from `timeOf(tick)` to `fastPathEnd`: ceil(deadline · ticksPerMs). Where a tick
   * is a power of two in ms.
   */
  readonly ticksPerMs: number = Number.NaN;

  constructor(clock: SharedClock, scale: TickScale) {
    this.clock = clock;
    this.scale = scale;
    this.ticksPerMs = scale.inverse;
    this.note(0);
  }

  /** Returns the time, ms. */
  read(): number {
    const now = this.clock.refresh();
    this.note(this.scale.tickAtOrBefore(now));
    return now;
  }

  /** Deadlines have a call's slack from here on, ticks, until `setSlack` puts back the one that is returned. */
  beginSlack(slack: number): number {
    const before = this.slack;
    this.hasManySlacks = true;
    this.setSlack(slack);
    return before;
  }

  /** Deadlines have this slack from here on, ticks: at most MAX_SLACK. */
  setSlack(slack: number): void {
    this.slack = slack;
    this.note(this.tick);
  }

  /** The due tick of a deadline: at the earliest the next tick. */
  dueTickOf(deadline: number): number {
    if (deadline >= this.nearEnd) warnOfWallClock(deadline, this.nextTickTime);
    const tick = this.scale.tickAtOrAfter(deadline);
    const due = this.slack === 0 ? tick : coincidingTick(tick, this.slack);
    return Math.min(Math.max(due, this.tick + 1), LAST_TICK);
  }

  /** The time of a deadline's due tick, where it has slack; else the deadline. ms */
  dueTimeOf(deadline: number): number {
    if (this.slack === 0) return deadline;
    return this.scale.timeOf(coincidingTick(this.scale.tickAtOrAfter(deadline), this.slack));
  }

  /** The last deadline that is due by a time, which is that of a tick where there is slack. ms */
  lastDeadlineDueBy(time: number): number {
    if (this.slack === 0) return time;
    return this.scale.timeOf(lastTickDueBy(this.scale.tickAtOrBefore(time), this.slack));
  }

  /** The due tick of a record of the table: as it was when the deadline was set, also where that had passed then. */
  dueTickOfRecord(deadline: number, due: number): number {
    if (deadline >= this.nextTickTime && deadline < this.fastPathEnd) {
      const tick = Math.ceil(deadline * this.ticksPerMs);
      return tick + ((due - (tick | 0)) >>> 0); // it may have been set with slack
    }
    return dueTickFrom(due, this.scale.tickAtOrAfter(deadline), this.tick);
  }

  private note(tick: number): void {
    this.tick = tick;
    this.nextTickTime = this.scale.timeOf(tick + 1);
    if (this.urgentBefore < this.nextTickTime) this.urgentBefore = this.nextTickTime;
    this.nearEnd = this.scale.timeOf(tick + NEAR);
    this.fastPathEnd = this.scale.inverse === 0 || this.slack > 0 ? Number.NEGATIVE_INFINITY : this.nearEnd;
  }
}
