import type { TimerLabel } from '../../scheduler/timer-label.ts';
import type { TimerId } from '../../timer-id.ts';
import type { TimeoutKind } from './socket-timeout-error.ts';

/** What is told that a limit's time is up. */
export interface LimitedConnection {
  timeUp(kind: TimeoutKind): void;
}

/** One kind of limit, of all connections. Each that it watches has one live timer of its label. */
export class Limit {
  /** Connections that it has ended. */
  timedOut = 0;
  private readonly kind: TimeoutKind;
  private readonly delay: number;
  private readonly label: TimerLabel;
  private readonly looks: number;

  /** `delay`: the limit in ms; `looks`: how many timers in a row make it up. */
  constructor(kind: TimeoutKind, delay: number, label: TimerLabel, looks: number) {
    this.kind = kind;
    this.delay = delay;
    this.label = label;
    this.looks = looks;
  }

  /** Connections that it watches. */
  get watched(): number {
    return this.label.size;
  }

  /** The limit with the label's scale, in ms. */
  get inForce(): number {
    const { min = 0, factor } = this.label;
    const least = min * this.looks;
    return least + factor * (this.delay - least);
  }

  /** Starts a timer of a connection. Throws CapacityExceededError, AllocationError, SchedulerClosedError. */
  start(hint: number, connection: LimitedConnection): TimerId {
    return this.label.scheduleAfter(hint, this.delay / this.looks, this.timeUp, connection);
  }

  private readonly timeUp = (connection: LimitedConnection): void => connection.timeUp(this.kind);
}
