/**
 * Chooses which calls are sampled: all of the first ones, then no more than some `budget`s in a second, whatever their
 * number. Gaps are random, so that a program that sets timers in turns is not sampled at only one of them.
 *
 *     step    the mean gap: the number of calls that a sample represents. Doubled when the limit is reached
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

  /** Call it with each sample: it draws the next gap. Returns the number of calls that this sample represents. */
  take(): number {
    const { step } = this;
    this.taken += 1;
    if (this.taken >= this.limit) {
      this.limit = this.budget;
      this.taken = 0;
      this.step *= 2;
    }
    // V8: words. Every call counts it down.
    this.left = (1 + Math.random() * (2 * this.step - 1)) | 0;
    return step;
  }

  /** Called after a second; the next may have another budget. */
  renew(budget = this.budget): void {
    this.budget = budget;
    if (this.step === 1) return; // some of the first ones may be left
    this.limit = budget;
    if (this.taken < budget / 2) this.step /= 2;
    this.taken = 0;
  }
}
