import { NEAR, tickFrom } from '../lane/due-word.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';

const LAST_TICK = Number.MAX_SAFE_INTEGER;

/** What a client knows of the time between two readings of the clock, and the due ticks that follow from it. */
export class ClientTime {
  /** The clock's tick when it was last read: never ahead of the time, and some ms behind at most. */
  tick = 0;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  /** Deadlines below this have due ticks near to `tick`. */
  private farFrom: number;

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

  /** The due tick that a due word stands for; the deadline tells whether the word alone can. */
  tickOfWord(word: number, deadline: number): number {
    return deadline < this.farFrom ? tickFrom(word, this.tick) : this.dueTickOf(deadline);
  }
}
