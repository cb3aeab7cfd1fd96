import { NEAR, tickUpTo } from '../lane/due-word.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';

const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** What a client knows of the time between two readings of the clock, and the due ticks that follow from it. */
export class ClientTime {
  /** The clock's tick when it was last read: never ahead of the time, and some ms behind at most. */
  tick = 0;
  /** Deadlines before this are near: see `lane/due-word.ts`. */
  farFrom: number;
  readonly clock: SharedClock;
  readonly scale: TickScale;

  constructor(clock: SharedClock, scale: TickScale) {
    this.clock = clock;
    this.scale = scale;
    this.farFrom = scale.timeOf(NEAR);
  }

  read(): void {
    this.tick = this.scale.tickAtOrBefore(this.clock.refresh());
    this.farFrom = this.scale.timeOf(this.tick + NEAR);
  }

  /** The due tick of a deadline: at the earliest the next tick. */
  dueTickOf(deadline: number): number {
    return Math.min(Math.max(this.scale.tickAtOrAfter(deadline), this.tick + 1), LAST_TICK);
  }

  /** The due tick of a record of the table: as it was when the deadline was set, also where that had passed then. */
  dueTickOfRecord(deadline: number, due: number): number {
    const tick = this.scale.tickAtOrAfter(deadline);
    if (tick > this.tick) return Math.min(tick, LAST_TICK);
    return tickUpTo(due, this.tick + 1); // when it was set it was overdue, and due at the next tick
  }
}
