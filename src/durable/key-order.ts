/** Runs what concerns one key in the order in which it was asked for, one after the other; other keys are not waited for. */
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
