/** No clock comes to it: what is due then waits for ever. */
export const END = 2 ** 53 - 1;

/**
 * Ticks by their definition, start(n) = start + n * precision, and bisection: what a guess is wrong about costs steps,
 * never a wrong answer.
 */
export class ReferenceTime {
  readonly start: number;
  readonly precision: number;
  /** The first time that is beyond the clock. */
  readonly end: number;
  private readonly isNext: boolean;

  constructor(start: number, precision: number, isNext: boolean) {
    this.start = start;
    this.precision = precision;
    this.end = start + END * precision;
    this.isNext = isNext;
  }

  startOf(n: number): number {
    return this.start + n * this.precision;
  }

  /** The least tick after `tick` at which a deadline may fire, at most END. */
  dueAfter(tick: number, deadline: number): number {
    return this.leastAfter(tick, deadline, this.isNext);
  }

  /** The interval of a time; `tick - 1` for every time before that tick. */
  intervalOf(time: number, tick: number): number {
    return this.leastAfter(tick - 1, time, true) - 1;
  }

  /** The least n > tick with start(n) >= time, or > time where `isBeyond`; END where there is none before it. */
  private leastAfter(tick: number, time: number, isBeyond: boolean): number {
    let low = tick;
    let high = END;
    const guess = Math.floor((time - this.start) / this.precision);
    for (let off = -1; off < 3; off++) {
      const n = guess + off; // beyond END, n++ may be n
      if (!(n > low && n < high)) continue;
      if (this.reaches(n, time, isBeyond)) high = n;
      else low = n;
    }
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (this.reaches(middle, time, isBeyond)) high = middle;
      else low = middle;
    }
    return high;
  }

  private reaches(n: number, time: number, isBeyond: boolean): boolean {
    const at = this.start + n * this.precision;
    return isBeyond ? at > time : at >= time;
  }
}
