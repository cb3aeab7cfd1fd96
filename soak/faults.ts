import { type CrashKind, crashKinds, type ThreadFaults } from './thread-faults.ts';

/** ms for which the event loop is blocked: so long at least, and less than so much more. */
const BLOCK_LEAST = 100;
const BLOCK_SPAN = 900;

/** What befalls the run, and when; drawn from the seed. */
export class Faults {
  blocks = 0;
  /** ms for which the event loop was blocked. */
  blocked = 0;
  bursts = 0;
  /** Connections that came in bursts. */
  burstConnections = 0;
  readonly #threads: ThreadFaults;
  readonly #shards: number;
  readonly #burst: number;
  readonly #nextAt: { crash: number; block: number; burst: number };
  readonly #every: { crash: number; block: number; burst: number };
  #random: number;

  /** Times between two faults of a kind are in ms; 0 for never. */
  constructor(
    threads: ThreadFaults,
    options: { shards: number; seed: number; burst: number; every: { crash: number; block: number; burst: number } },
  ) {
    this.#threads = threads;
    this.#shards = options.shards;
    this.#burst = options.burst;
    this.#random = options.seed | 0 || 1;
    this.#every = options.every;
    const first = (every: number) => (every === 0 ? Number.POSITIVE_INFINITY : every);
    const { crash, block, burst } = options.every;
    this.#nextAt = { crash: first(crash), block: first(block), burst: first(burst) };
  }

  /** Has happen what is due at `now`, ms. */
  happen(now: number): void {
    if (this.#isDue('crash', now)) {
      const kind = crashKinds[this.#draw(crashKinds.length)] as CrashKind;
      this.#threads.crash(this.#draw(this.#shards), kind);
    }
    if (this.#isDue('burst', now)) {
      this.bursts++;
      this.burstConnections += this.#burst;
    }
    if (this.#isDue('block', now)) {
      const length = BLOCK_LEAST + this.#draw(BLOCK_SPAN + 1);
      this.blocks++;
      this.blocked += length;
      for (const end = performance.now() + length; performance.now() < end; ); // as a callback that computes
    }
  }

  #isDue(fault: 'crash' | 'block' | 'burst', now: number): boolean {
    if (now < this.#nextAt[fault]) return false;
    this.#nextAt[fault] = now + this.#every[fault];
    return true;
  }

  /** 0 <= n < end, by xorshift32. */
  #draw(end: number): number {
    this.#random ^= this.#random << 13;
    this.#random ^= this.#random >>> 17;
    this.#random ^= this.#random << 5;
    return Math.floor((this.#random >>> 0) * 2 ** -32 * end);
  }
}
