import { xorshift } from '../../bench/replay/xorshift.ts';

/** Numbers from 0 to 1 (excluded), the same for the same seed. */
export class Random {
  #state: number;

  /** `seed`: a whole number other than 0. */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = xorshift(this.#state);
    return (this.#state >>> 0) / 2 ** 32;
  }

  /**
   * How many events there are where `mean` are expected: Poisson, by Knuth's product up to 30, by a normal draw beyond.
   */
  poisson(mean: number): number {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
    const limit = Math.exp(-mean);
    let count = -1;
    for (let product = 1; product > limit; count++) product *= this.next();
    return Math.max(0, count);
  }

  /** Box and Muller. */
  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
