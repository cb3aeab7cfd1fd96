import { warnOfWallClock } from '../arguments.ts';
import { dueTickFrom, MAX_SLACK, WORD_REACH } from '../lane/due-word.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import { coincidingTick, type TickScale } from '../time/tick-scale.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/** No clock goes beyond it: what is due later waits for ever. */
export const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** Callbacks of a turn between two readings of the clock: they take time, and lateness must be accurate. */
export const CALLS_PER_READING = 64;

/**
 * Converts a slack in ms to whole ticks, rounded down so that no timer is later than that. NaN if it is invalid: see
 * `slackRange`.
 */
export function slackInTicks(slack: unknown, scale: TickScale): number {
  if (typeof slack !== 'number' || !(slack >= 0)) return Number.NaN;
  const ticks = scale.tickAtOrBefore(slack);
  return ticks <= MAX_SLACK ? ticks : Number.NaN;
}

/** What a slack must be, for an error. */
export const slackRange = (scale: TickScale): string => `must be ms from 0 to ${scale.timeOf(MAX_SLACK)}`;

/**
 * The client's time: the reading of its present turn, or of its latest, and the due ticks that follow from it. A turn
 * reads the clock as it begins and hands that time down; it is read again only after the program's code has run.
 */
export class ClientTime {
  /** The latest reading in ms, and its tick: never ahead of the time, and as old as the latest turn. */
  now = 0;
  tick = -1; // none has been read
  /** The greatest reading in ms: after `now`, if the clock has fallen back. */
  latest = Number.NEGATIVE_INFINITY; // V8: double fields
  /** The time at which `tick` began: deadlines up to it have come. */
  tickTime = Number.NaN; // V8: double fields
  /** The time of the tick after `tick`. */
  nextTickTime = Number.NaN;
  /** Deadlines before this are near: see `lane/due-word.ts`. */
  wordReachEnd = Number.NaN;
  /**
   * Deadlines before this may take the fast path. Like wordReachEnd, but nothing is before it if a tick is not a power
   * of two in ms.
   */
  fastPathEnd = Number.NaN;
  /**
   * The time of the earliest due tick among staged commands. Infinity if none is staged, -Infinity if all are wanted at
   * once.
   */
  stagedBy = Number.POSITIVE_INFINITY;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  readonly isManual: boolean;
  /**
   * Ticks per ms if a tick is a power of two in ms. For a deadline from `nextTickTime` to `fastPathEnd`, without slack,
   * `dueTickOf` is then ceil(deadline · ticksPerMs).
   */
  readonly ticksPerMs: number = Number.NaN;

  constructor(clock: SharedClock, scale: TickScale) {
    this.clock = clock;
    this.scale = scale;
    this.isManual = clock.memory.manual;
    this.ticksPerMs = scale.inverse;
    this.note(0);
  }

  /** The reading of a turn, which all threads learn. */
  beginTurn(): void {
    this.note(this.clock.publish());
  }

  /** Reads the clock again within a turn: the program's code has run since. */
  readAgain(): void {
    this.note(this.clock.read());
  }

  /**
   * The due tick of a deadline, with a slack in ticks; the next tick at the earliest. It never falls as the deadline
   * rises.
   */
  dueTickOf(deadline: number, slack: number): number {
    if (deadline >= this.wordReachEnd) warnOfWallClock(deadline, this.nextTickTime);
    return min(max(this.tickWithSlack(deadline, slack), this.tick + 1), LAST_TICK);
  }

  /** The due tick of a deadline, even if it has passed. */
  tickWithSlack(deadline: number, slack: number): number {
    const tick = this.scale.tickAtOrAfter(deadline);
    return slack === 0 ? tick : coincidingTick(tick, slack);
  }

  /**
   * The due tick of a record of the table, as computed when the deadline was set, even if the deadline had passed by
   * then.
   */
  dueTickOfRecord(deadline: number, due: number): number {
    if (deadline >= this.nextTickTime && deadline < this.fastPathEnd) {
      const tick = ceil(deadline * this.ticksPerMs);
      return tick + ((due - (tick | 0)) >>> 0); // it may have been set with slack
    }
    return dueTickFrom(due, this.scale.tickAtOrAfter(deadline), this.tick);
  }

  private note(now: number): void {
    const { scale } = this;
    const tick = scale.tickAtOrBefore(now);
    this.now = now;
    if (now > this.latest) this.latest = now;
    if (tick === this.tick) return;
    this.tick = tick;
    this.tickTime = scale.timeOf(tick);
    this.nextTickTime = scale.timeOf(tick + 1);
    this.wordReachEnd = scale.timeOf(tick + WORD_REACH);
    this.fastPathEnd = scale.inverse === 0 ? Number.NEGATIVE_INFINITY : this.wordReachEnd;
  }
}
