/** Who is told that a timer has fired. */
export interface FireSink {
  fired(timer: number): void;
}

/**
 * A set of timers as the wheel's workloads use it. Timers are numbered 0 .. capacity - 1 by the workload, which never
 * schedules one that is live; times are whole milliseconds from 0.
 */
export interface WheelSubject {
  /** Precondition: not live, deadline > the time advanced to. */
  schedule(timer: number, deadline: number): void;
  /** Precondition: live. */
  cancel(timer: number): void;
  advanceTo(now: number): void;
}

export type WheelSubjectFactory = (capacity: number, sink: FireSink) => WheelSubject;
