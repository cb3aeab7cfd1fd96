import { type MissedCalls, nextCall } from '../client/missed-calls.ts';

/** The times at which the calls of an interval are due. @internal */
export class IntervalGrid {
  readonly period: number;
  /** Of the next call. */
  deadline: number;
  private readonly missed: MissedCalls;
  private start: number;

  /** `start` and `period` in ms. */
  constructor(start: number, period: number, missed: MissedCalls) {
    this.start = start;
    this.period = period;
    this.deadline = start + period;
    this.missed = missed;
  }

  /** Advances after a call that began at `begun` and ended at `now`. */
  advance(begun: number, now: number): void {
    this.deadline = nextCall(this.missed, this.start, this.period, this.deadline, begun, now);
  }

  /** Counts from `start` again. */
  restart(start: number): void {
    this.start = start;
    this.deadline = start + this.period;
  }
}
