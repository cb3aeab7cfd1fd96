import type { Scheduler } from 'shardwheel';
import type { TcpProxy } from './proxy.ts';

const SAMPLE_EVERY = 50;
const PRINT_EVERY = 1_000;

/** Samples the live timers, and says once a second on stderr how the run is going. */
export class Progress {
  peakTimers = 0;
  readonly #scheduler: Scheduler;
  readonly #proxies: readonly TcpProxy[];
  readonly #started = performance.now();
  readonly #timers: NodeJS.Timeout[];
  #acceptedBefore = 0;

  constructor(scheduler: Scheduler, proxies: readonly TcpProxy[]) {
    this.#scheduler = scheduler;
    this.#proxies = proxies;
    this.#timers = [
      setInterval(() => this.#sample(), SAMPLE_EVERY),
      setInterval(() => console.error(this.#line()), PRINT_EVERY),
    ];
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #sample(): void {
    this.peakTimers = Math.max(this.peakTimers, this.#scheduler.size);
  }

  #line(): string {
    const accepted = this.#sum((proxy) => proxy.counters.accepted);
    const cut = this.#sum(({ counters }) => Object.values(counters.cut).reduce((sum, count) => sum + count, 0));
    const rate = (accepted - this.#acceptedBefore) / (PRINT_EVERY / 1_000);
    this.#acceptedBefore = accepted;
    const seconds = Math.round((performance.now() - this.#started) / 1_000);
    const live = this.#sum((proxy) => proxy.live);
    return `${seconds} s: ${rate} connections/s, ${live} live, ${cut} cut, ${this.#scheduler.size} timers`;
  }

  #sum(of: (proxy: TcpProxy) => number): number {
    return this.#proxies.reduce((sum, proxy) => sum + of(proxy), 0);
  }
}
