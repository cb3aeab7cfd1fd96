import { performance } from 'node:perf_hooks';
import { CpuMeter } from '../../replay/cpu-meter.ts';
import type { Figures } from '../loading/spawned.ts';

/** What this process takes between `start` and `figures`. */
export class UsageMeter {
  readonly #cpu = new CpuMeter();
  #begun = 0;
  #asleep = 0;

  start(): void {
    this.#asleep = asleep();
    this.#begun = performance.now();
    this.#cpu.start();
  }

  /** ns of CPU for each of so many operations, and how often a second a thread of the process went to sleep. */
  figures(operations: number): Figures {
    const { thread, process } = this.#cpu.read();
    const seconds = (performance.now() - this.#begun) / 1000;
    return {
      loop: (thread * 1e6) / operations,
      process: (process * 1e6) / operations,
      wakes: (asleep() - this.#asleep) / seconds,
      reached: operations / seconds,
    };
  }
}

const asleep = (): number => process.resourceUsage().voluntaryContextSwitches;
