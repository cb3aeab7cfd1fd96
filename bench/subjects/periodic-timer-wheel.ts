import { type TimerHandle, TimerWheel } from 'timer-wheel';
import type { FireSink, WheelSubject } from './wheel-subject.ts';

/** Its finest tick, ms. */
const TICK = 1024;

/**
 * The npm package timer-wheel on a virtual clock. Advanced within a tick, version 1.0.0 files that tick's timers anew
 * in the list that it is walking, and loses all but one of them. At the end of a tick all of them are due and none is
 * filed anew: so it is advanced at the ends of its ticks only, and its timers are up to two of them late.
 */
export class PeriodicTimerWheel implements WheelSubject {
  private readonly wheel = new TimerWheel<number>();
  private readonly handles: (TimerHandle | undefined)[];
  private readonly sink: FireSink;
  private now = 0;
  private nextEnd = TICK - 1;

  constructor(capacity: number, sink: FireSink) {
    this.handles = new Array<TimerHandle | undefined>(capacity).fill(undefined);
    this.sink = sink;
    Object.defineProperty(this.wheel, 'localTime', { get: () => this.now });
  }

  schedule(timer: number, deadline: number): void {
    this.handles[timer] = this.wheel.schedule(timer, deadline - this.now);
  }

  cancel(timer: number): void {
    (this.handles[timer] as TimerHandle).remove();
  }

  advanceTo(now: number): void {
    if (now >= this.nextEnd) {
      this.now = now - ((now + 1) % TICK);
      this.nextEnd = this.now + TICK;
      for (const timer of this.wheel.advance(this.now)) this.sink.fired(timer);
    }
    this.now = now;
  }
}
