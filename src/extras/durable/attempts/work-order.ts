/** A queue whose `shift` costs the same whatever its length. */
class Fifo<T> {
  private items: T[] = [];
  private taken = 0;

  push(item: T): void {
    this.items.push(item);
  }

  get size(): number {
    return this.items.length - this.taken;
  }

  /** Undefined if it is empty. */
  shift(): T | undefined {
    if (this.taken === this.items.length) return undefined;
    const item = this.items[this.taken++];
    if (this.taken >= 1024 && this.taken * 2 >= this.items.length) {
      this.items = this.items.slice(this.taken);
      this.taken = 0;
    }
    return item;
  }
}

/** What waits for one of a number of handlers, in the order in which it came. */
export class HandlerOrder<T> {
  private readonly limit: number;
  private readonly waiting = new Fifo<T>();
  private used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether something waits that a handler is free for. */
  get mayBegin(): boolean {
    return this.used < this.limit && this.waiting.size > 0;
  }

  /** Whether there are more free handlers than what waits for them. */
  get hasRoom(): boolean {
    return this.used + this.waiting.size < this.limit;
  }

  push(item: T): void {
    this.waiting.push(item);
  }

  shift(): T | undefined {
    return this.waiting.shift();
  }

  take(): void {
    this.used += 1;
  }

  free(): void {
    this.used -= 1;
  }

  /** Yields what waits, which does not any more. */
  *clear(): Generator<T> {
    for (let item = this.waiting.shift(); item !== undefined; item = this.waiting.shift()) yield item;
  }
}

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

/**
 * Runs what concerns one key in the order in which it was asked for, one after the other; other keys are not waited
 * for.
 */
export class KeyOrder {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Whether something concerning the key is under way. */
  has(id: string): boolean {
    return this.last.has(id);
  }

  /** Resolves, or rejects, as the work does. */
  run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(id);
    const done = before === undefined ? work() : before.then(work, work);
    this.last.set(id, done);
    const forget = (): void => {
      if (this.last.get(id) === done) this.last.delete(id);
    };
    done.then(forget, forget);
    return done;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.last.size > 0) await Promise.allSettled(this.last.values());
  }
}
