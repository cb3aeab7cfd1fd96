import { performance } from 'node:perf_hooks';

/**
 * Milliseconds since the replay's start, on the clock that `process.hrtime` reads. Read once per step and per fire;
 * what belongs to the step then takes its time from `now`. Kept in a typed array: a double that is passed from function
 * to function is allocated each time, and a million a second of them would have the collector run during the
 * measurement.
 */
export class StepClock {
  /** The source's time at the start, and the time of the present step. */
  readonly #times = new Float64Array(2);
  readonly #source: () => number;

  constructor(source: () => number = () => performance.now()) {
    this.#source = source;
    this.start();
  }

  /** From here on the time counts from this moment. */
  start(): void {
    this.#times[0] = this.#source();
    this.#times[1] = 0;
  }

  read(): number {
    this.#times[1] = this.#source() - this.#times[0]!;
    return this.#times[1]!;
  }

  /** As of the last `read`. */
  get now(): number {
    return this.#times[1]!;
  }
}
