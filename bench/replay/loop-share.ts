/**
 * Which of a replay's connections are one event loop's: of `loops` of them the loop number `index` has every
 * `loops`-th. So all loops together do what one would do alone, and their arrivals are spread as evenly.
 */
export class LoopShare {
  readonly #index: number;
  readonly #loops: number;

  constructor(index: number, loops: number) {
    this.#index = index;
    this.#loops = loops;
  }

  /** How many of the replay's first `connections` are this loop's. */
  of(connections: number): number {
    return Math.max(0, Math.ceil((connections - this.#index) / this.#loops));
  }

  /** The number, in all of the replay, of this loop's connection number `nth`, both from 0 on. */
  numberOf(nth: number): number {
    return nth * this.#loops + this.#index;
  }
}
