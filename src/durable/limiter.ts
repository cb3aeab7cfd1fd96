import { Fifo } from './fifo.ts';

/** Lets at most `limit` be under way at a time; the others wait in the order in which they came. */
export class Limiter {
  private readonly limit: number;
  private readonly waiting = new Fifo<() => void>();
  private used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.used >= this.limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.used += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift(); // takes over the place
      if (next === undefined) this.used -= 1;
      else next();
    }
  }
}
