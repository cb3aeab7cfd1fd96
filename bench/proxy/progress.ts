import type { EventLoops } from './event-loops.ts';
import type { TimerCensus } from './timer-census.ts';

const PRINT_EVERY = 1_000;

/** Says once a second on stderr how the run is going. */
export class Progress {
  readonly #loops: EventLoops;
  readonly #census: TimerCensus;
  readonly #started = performance.now();
  readonly #printing: NodeJS.Timeout;
  #acceptedBefore = 0;

  constructor(loops: EventLoops, census: TimerCensus) {
    this.#loops = loops;
    this.#census = census;
    this.#printing = setInterval(() => console.error(this.#line()), PRINT_EVERY);
  }

  stop(): void {
    clearInterval(this.#printing);
  }

  #line(): string {
    const { accepted, ended, cut } = this.#loops.counts();
    const killed = this.#loops.kills.length;
    const rate = (accepted - this.#acceptedBefore) / (PRINT_EVERY / 1_000);
    this.#acceptedBefore = accepted;
    const seconds = Math.round((performance.now() - this.#started) / 1_000);
    const counts = [`${rate} connections/s`, `${accepted - ended} live`, `${cut} cut`, `${this.#census.live} timers`];
    if (killed > 0) counts.push(`threads killed: ${killed}`);
    return `${seconds} s: ${counts.join(', ')}`;
  }
}
