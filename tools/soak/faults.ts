import { xorshift } from '../../bench/replay/xorshift.ts';
import type { SoakOptions } from './options.ts';
import type { SoakClients } from './soak-clients.ts';
import { type CrashKind, crashKinds, type ThreadFaults } from './thread-faults.ts';

/** ms for which the event loop is blocked: so long at least, and less than so much more. */
const BLOCK_LEAST = 100;
const BLOCK_SPAN = 900;

type FaultKind = 'crash' | 'block' | 'burst' | 'client';

/** What befalls the run, and when; drawn from the seed. */
export class Faults {
  blocks = 0;
  /** ms for which the event loop was blocked. */
  blocked = 0;
  bursts = 0;
  /** Connections that came in bursts. */
  burstConnections = 0;
  readonly #threads: ThreadFaults;
  readonly #clients: SoakClients;
  readonly #shards: number;
  readonly #burst: number;
  /** ms */
  readonly #nextAt: Record<FaultKind, number>;
  readonly #every: Record<FaultKind, number>;
  #random: number;

  constructor(threads: ThreadFaults, clients: SoakClients, options: SoakOptions) {
    this.#threads = threads;
    this.#clients = clients;
    this.#shards = options.shards;
    this.#burst = options.burst;
    this.#random = options.seed | 0 || 1;
    const ms = (seconds: number) => (seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000);
    const { crashEvery, blockEvery, burstEvery, clientEvery } = options;
    const client = clients.count === 0 ? Number.POSITIVE_INFINITY : ms(clientEvery);
    this.#every = { crash: ms(crashEvery), block: ms(blockEvery), burst: ms(burstEvery), client };
    this.#nextAt = { ...this.#every };
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
    if (this.#isDue('client', now)) this.#clients.kill(this.#draw(this.#clients.count));
    if (this.#isDue('block', now)) {
      const length = BLOCK_LEAST + this.#draw(BLOCK_SPAN + 1);
      this.blocks++;
      this.blocked += length;
      if (this.#clients.count > 0)
        this.#clients.block(this.#draw(this.#clients.count), BLOCK_LEAST + this.#draw(BLOCK_SPAN));
      for (const end = performance.now() + length; performance.now() < end; ); // as a callback that computes
    }
  }

  #isDue(fault: FaultKind, now: number): boolean {
    if (now < this.#nextAt[fault]) return false;
    this.#nextAt[fault] = now + this.#every[fault];
    return true;
  }

  /** 0 <= n < end. */
  #draw(end: number): number {
    this.#random = xorshift(this.#random);
    return Math.floor((this.#random >>> 0) * 2 ** -32 * end);
  }
}
