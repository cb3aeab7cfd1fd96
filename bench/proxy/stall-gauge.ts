import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION = 20;

/** Measures the longest time that this thread's loop stood still. */
export class StallGauge {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION });

  start(): void {
    this.#delay.enable();
  }

  /** ms */
  stop(): number {
    this.#delay.disable();
    return Math.max(0, this.#delay.max / 1e6 - RESOLUTION);
  }
}
