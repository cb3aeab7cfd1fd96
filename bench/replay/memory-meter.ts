import type { MemoryUse } from './replay-result.ts';

/** Resident memory at the three moments that show the cost of a live timer. */
export class MemoryMeter {
  #before = 0;
  #rest = 0;
  #peak = 0;
  #live = 0;

  before(): void {
    this.#before = process.memoryUsage.rss();
  }

  rest(): void {
    this.#rest = process.memoryUsage.rss();
  }

  /** Measures only when more timers are live than ever before: 20 µs. */
  sample(live: number): void {
    if (live <= this.#live) return;
    this.#live = live;
    this.#peak = process.memoryUsage.rss();
  }

  use(): MemoryUse {
    return { before: this.#before, rest: this.#rest, peak: this.#peak, live: this.#live };
  }
}
