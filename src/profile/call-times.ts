import type { CallTimes } from './profile-data.ts';

/** ms. What takes longer was interrupted: by the machine, or by a collection that any other call could have met. */
const LONGEST = 0.02;
const { now } = performance;
export const clock: () => number = now.bind(performance);

/** ms that lie between two readings of the clock. */
function readingTime(): number {
  const gaps = Array.from({ length: 501 }, () => -clock() + clock());
  return gaps.sort((one, other) => one - other)[250];
}

const reading = readingTime();

/** The mean time of calls, from samples. */
export class SampledTimes {
  private samples = 0;
  private calls = 0;
  private time = 0;

  /** `milliseconds` between two readings of the clock around a call that stands for so many. */
  add(milliseconds: number, weight: number): void {
    this.samples += 1;
    this.calls += weight;
    this.time += Math.min(milliseconds, LONGEST) * weight;
  }

  times(): CallTimes {
    const { samples, calls, time } = this;
    return { samples, ns: samples === 0 ? 0 : Math.max(0, time / calls - reading) * 1e6 };
  }
}
