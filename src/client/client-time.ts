import { dueTickFrom, NEAR } from '../lane/due-word.ts';
import { coincidingTick } from '../time/coinciding-tick.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { warnOfWallClock } from './wall-clock.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** The client's time between two readings of the clock, and the due ticks that follow from it. */
export class ClientTime {
  /** The clock's tick at the last reading: never ahead of the time, and at most some ms behind. */
  tick = 0;
  /** Deadlines before this are near: see `lane/due-word.ts`. */
  nearEnd = Number.NaN; // V8: double fields
  /**
   * Deadlines before this may take the fast path. Like nearEnd, but nothing is before it if a tick is not a power of two in ms,
   * or if there is slack.
   */
  fastPathEnd = Number.NaN;
  /**
   * A deadline before this needs more than its due word: no turn is coming that would publish it, or that turn comes too late for
   * it, or the deadline has passed. The loop sets it: infinite until the hold timer is set, and always with a manual clock.
   */
  urgentBefore = Number.POSITIVE_INFINITY;
  /** The time of the tick after `tick`. */
  nextTickTime = Number.NaN;
  /** How many ticks a timer that is set now may come after its tick. */
  slack = 0;
  /** Whether a call has had its own slack. Then due ticks need not rise with deadlines. */
  hasManySlacks = false;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /**
   * Ticks per ms if a tick is a power of two in ms. For a deadline from `timeOf(tick)` to `fastPathEnd`, `dueTickOf` is then
   * ceil(deadline · ticksPerMs).
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
    this.note(this.scale.tickAtOrBefore(now));
    return now;
  }

  /** Sets a call's slack in ticks for deadlines from now on; returns the one that `setSlack` must restore. */
  beginSlack(slack: number): number {
    const before = this.slack;
    this.hasManySlacks = true;
    this.setSlack(slack);
    return before;
  }

  /** Sets the slack in ticks for deadlines from now on: at most MAX_SLACK. */
  setSlack(slack: number): void {
    this.slack = slack;
    this.note(this.tick);
  }

  /** The due tick of a deadline; the next tick at the earliest. */
  dueTickOf(deadline: number): number {
    if (deadline >= this.nearEnd) warnOfWallClock(deadline, this.nextTickTime);
    const tick = this.scale.tickAtOrAfter(deadline);
    const due = this.slack === 0 ? tick : coincidingTick(tick, this.slack);
    return min(max(due, this.tick + 1), LAST_TICK);
  }

  /** The time in ms of a deadline's due tick if there is slack; else the deadline. */
  dueTimeOf(deadline: number): number {
    if (this.slack === 0) return deadline;
    return this.scale.timeOf(coincidingTick(this.scale.tickAtOrAfter(deadline), this.slack));
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
    this.nearEnd = this.scale.timeOf(tick + NEAR);
    this.fastPathEnd = this.scale.inverse === 0 || this.slack > 0 ? Number.NEGATIVE_INFINITY : this.nearEnd;
  }
}
