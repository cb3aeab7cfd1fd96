import { outsideContexts } from '../async-context/async-context.ts';
import { clearTimeout, setTimeout } from '../time/native-timers.ts';
import type { ClientTime } from './client-time.ts';

/** A native timer for the earliest of several deadlines. It does not hold the process, and belongs to no async context. */
export class Alarm {
  /** The deadline for which it is set, in ms; Infinity while it is not set. */
  deadline = Number.POSITIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private readonly time: ClientTime;
  private readonly ring: () => void;

  /** Node itself calls `ring`, when the tick of the deadline has come or up to 1 ms before, as is usual for native timers. */
  constructor(time: ClientTime, ring: () => void) {
    this.time = time;
    this.ring = ring;
  }

  /** Sets it for a deadline in ms, unless it is set for an earlier one. Throws if Node refuses a timer. */
  set(deadline: number): void {
    if (deadline >= this.deadline) return;
    const { scale, clock } = this.time;
    const delay = Math.max(1, Math.ceil(scale.timeOf(scale.tickAtOrAfter(deadline)) - clock.exact()));
    clearTimeout(this.timer);
    this.deadline = Number.POSITIVE_INFINITY;
    // A new timer each time: one that has rung may keep the context of the code that it ran.
    this.timer = outsideContexts(() => setTimeout(this.rung, delay).unref());
    this.deadline = deadline;
  }

  clear(): void {
    clearTimeout(this.timer);
    this.deadline = Number.POSITIVE_INFINITY;
  }

  private readonly rung = (): void => {
    this.deadline = Number.POSITIVE_INFINITY;
    this.ring();
  };
}
