/** How far the levels of a pinned wheel reach from a tick on, and so when a slot is handed over. All in ticks. */
export class LevelReach {
  private readonly widths: Float64Array;
  private readonly spokeCounts: Int32Array;
  private readonly top: number;

  constructor(widths: Float64Array, spokeCounts: Int32Array) {
    this.widths = widths;
    this.spokeCounts = spokeCounts;
    this.top = widths.length - 1;
  }

  /** The last tick that a level accepts. */
  last(level: number, now: number): number {
    const width = this.widths[level];
    return (Math.floor(now / width) + (this.spokeCounts[level] - 1)) * width;
  }

  /** The finest level that accepts a tick; the coarsest for what is beyond its reach. */
  levelFor(tick: number, now: number): number {
    let level = 0;
    while (level < this.top && tick > this.last(level, now)) level++;
    return level;
  }

  /** The round of a tick on a level; the last one for what is beyond its reach. */
  roundFor(level: number, tick: number, now: number): number {
    return Math.ceil(Math.min(tick, this.last(level, now)) / this.widths[level]);
  }

  /**
   * When a slot of a tick that is filed at `from` is handed over for good: one beyond reach is filed anew at the end of
   * it.
   */
  handedOverAt(tick: number, from: number): number {
    const { top, widths } = this;
    const span = (this.spokeCounts[top] - 1) * widths[top];
    let now = from;
    for (;;) {
      for (let level = 0; level <= top; level++) {
        const width = widths[level];
        if (tick <= this.last(level, now)) return Math.ceil(tick / width) * width;
      }
      now = this.last(top, now);
      // From there on it moves by whole spans; all but the last at once.
      if (tick > now + span) now += Math.max(0, Math.ceil((tick - span - now) / span) - 1) * span;
    }
  }
}
