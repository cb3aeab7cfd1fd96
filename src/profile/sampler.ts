/**
 * Chooses which calls are sampled: all of the first ones, then no more than some `budget`s in a second, however many there are. Gaps
 * are random, so that a program which sets timers in turns is not sampled at one of them only.
 *
 *     step    the mean gap; a sample stands for so many calls. Twice as much whenever the limit is reached
 *     left    calls until the next sample; the caller counts it down
 */
export class Sampler {
  left = 1;
  private step = 1;
  private taken = 0;
  /** Samples until the gap doubles. */
  private limit: number;
  private budget: number;

  /** `first`: how many of the first calls are all sampled. */
  constructor(budget: number, first = budget) {
    this.limit = first;
    this.budget = budget;
  }

  /** To be called with each sample: draws the next gap. Returns how many calls this sample stands for. */
  take(): number {
    const { step } = this;
    this.taken += 1;
    if (this.taken >= this.limit) {
      this.limit = this.budget;
      this.taken = 0;
      this.step *= 2;
    }
    // A whole number for V8, too: every call counts it down.
    this.left = (1 + Math.random() * (2 * this.step - 1)) | 0;
    return step;
  }

  /** A second has passed; the next may have another budget. */
  renew(budget = this.budget): void {
    this.budget = budget;
    if (this.step === 1) return; // of the first ones there may be some left
    this.limit = budget;
    if (this.taken < budget / 2) this.step /= 2;
    this.taken = 0;
  }
}
