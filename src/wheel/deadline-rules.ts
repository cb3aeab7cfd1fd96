import { DeadlineTooFarError, InvalidDeadlineError } from '../errors.ts';
import { type Intervals, MAX_TICK } from './intervals.ts';
import type { WheelIndex } from './wheel-index.ts';

/**
 * More than the number of ticks that start at one time if doubles are coarser than ticks (a deadline is due at the first of
 * them).
 */
const COARSE = 8;

/** Which deadlines a wheel accepts, and the tick at which it files them. */
export class DeadlineRules {
  private readonly index: WheelIndex;
  private readonly intervals: Intervals;
  private readonly refusesPast: boolean;

  constructor(index: WheelIndex, intervals: Intervals, refusesPast: boolean) {
    this.index = index;
    this.intervals = intervals;
    this.refusesPast = refusesPast;
  }

  /**
   * See TimingWheel; a deadline refused at MAX_TICK would never fire. Precondition, here and below: the index has caught up with
   * the clock.
   */
  get upperBound(): number {
    const bound = this.index.upperBound;
    return bound === Number.POSITIVE_INFINITY ? bound : this.intervals.startOf(Math.min(bound, MAX_TICK) - 1);
  }

  /** The tick at which to file a deadline; throws if the wheel does not accept it. */
  tickFor(deadline: number, clock: number): number {
    if (!Number.isFinite(deadline)) throw new InvalidDeadlineError(deadline);
    const tick = this.intervals.dueTick(deadline);
    if (tick >= this.index.upperBound - COARSE && deadline >= this.upperBound) {
      throw new DeadlineTooFarError(deadline, this.upperBound);
    }
    if (this.refusesPast && deadline < clock) this.refusePast(deadline, clock);
    return tick;
  }

  /** Throws for past deadlines. Times within now's interval are not past: at this precision they are the present. */
  private refusePast(deadline: number, clock: number): void {
    if (this.intervals.intervalOf(deadline) < this.intervals.intervalOf(clock)) {
      throw new InvalidDeadlineError(deadline, `must not be before the interval of now (${clock})`);
    }
  }
}
