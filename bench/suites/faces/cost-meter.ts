import { performance } from 'node:perf_hooks';
import { CpuMeter } from '../../replay/cpu-meter.ts';

/** ns for each of a number of operations. */
export interface Cost {
  /** By the clock: what the event loop's thread could not do meanwhile. */
  readonly wall: number;
  /** CPU of that thread. */
  readonly thread: number;
  /** CPU of all threads: shards, garbage collector and compiler included. */
  readonly process: number;
}

const CALIBRATION = 16;

/**
 * Sums up what passes between `start` and `stop`, over as many stretches as there are: what a driver does between two
 * of them does not count. Reading the CPU takes some CPU itself: an empty stretch is measured first, and taken off
 * each.
 */
export class CostMeter {
  readonly #cpu = new CpuMeter();
  #began = 0;
  #wall = 0;
  #thread = 0;
  #process = 0;
  #stretches = 0;

  /** ms of thread and process that an empty stretch takes. */
  readonly #own: readonly [thread: number, process: number];

  constructor() {
    for (let i = 0; i < CALIBRATION; i++) {
      this.start();
      this.stop();
    }
    this.#own = [this.#thread / CALIBRATION, this.#process / CALIBRATION];
    this.#wall = this.#thread = this.#process = this.#stretches = 0;
  }

  start(): void {
    this.#cpu.start();
    this.#began = performance.now();
  }

  stop(): void {
    this.#wall += performance.now() - this.#began;
    const { thread, process } = this.#cpu.read();
    this.#thread += thread;
    this.#process += process;
    this.#stretches += 1;
  }

  each(count: number): Cost {
    const [thread, process] = this.#own.map((own) => own * this.#stretches);
    return {
      wall: (this.#wall * 1e6) / count,
      thread: ((this.#thread - thread) * 1e6) / count,
      process: ((this.#process - process) * 1e6) / count,
    };
  }
}
