import type { FireSink } from '../../subjects/wheel-subject.ts';

/**
 * Holds a subject to account: each timer scheduled must be fired once or cancelled, never early, and `lateBy` ms late
 * at the most. Costs the same for every subject.
 */
export class Tally implements FireSink {
  /** The time that the subject is being advanced to. */
  now = 0;
  scheduled = 0;
  cancelled = 0;
  count = 0;
  /** Over what the workload did, in order: equal for all subjects. */
  operations = 0;
  /** Over what fired at which time, in any order: equal for subjects that fire in the very tick. */
  firings = 0;
  /** Deadline of a live timer, 0 of one that is not. */
  declare readonly deadlines: Int32Array;
  private wrong = 0;
  declare private readonly lateBy: number;

  constructor(capacity: number, lateBy: number) {
    this.deadlines = new Int32Array(capacity).fill(0);
    this.lateBy = lateBy;
  }

  /** To be called before the subject is. */
  schedule(timer: number, deadline: number): void {
    this.scheduled++;
    this.deadlines[timer] = deadline;
    this.operations = (Math.imul(this.operations, 31) + (timer ^ deadline)) | 0;
  }

  /** False where the timer is not live: then there is nothing to cancel. */
  cancel(timer: number): boolean {
    if (this.deadlines[timer] === 0) return false;
    this.deadlines[timer] = 0;
    this.cancelled++;
    return true;
  }

  fired(timer: number): void {
    this.count++;
    const deadline = this.deadlines[timer];
    const late = this.now - deadline;
    if (deadline === 0 || late < 0 || late > this.lateBy) this.wrong++;
    this.deadlines[timer] = 0;
    this.firings = (this.firings + (Math.imul(timer + 1, 0x9e3779b1) ^ Math.imul(this.now, 0x85ebca6b))) | 0;
  }

  /**
   * Precondition: the clock has passed every deadline by more than `lateBy`. Throws where a timer was not treated
   * right.
   */
  requireAllAccountedFor(): void {
    const lost = this.scheduled - this.cancelled - this.count;
    if (this.wrong === 0 && lost === 0) return;
    throw new Error(
      `of ${this.scheduled} timers ${this.wrong} fired early, too late, twice or after they were cancelled; ${lost} are missing`,
    );
  }
}
