/** The last answer of somebody who may take long, for somebody who waits for nobody. */
export class LatestAnswer<T> {
  private readonly ask: () => Promise<T>;
  private answer: T | undefined;
  private isAsking = false;

  constructor(ask: () => Promise<T>) {
    this.ask = ask;
  }

  /** The answer to the call before, or to one still earlier; asks anew. Undefined before the first, and after a rejection. */
  read(): T | undefined {
    if (!this.isAsking) void this.renew();
    return this.answer;
  }

  private async renew(): Promise<void> {
    this.isAsking = true;
    try {
      this.answer = await this.ask();
    } catch {
      this.answer = undefined; // as said
    }
    this.isAsking = false;
  }
}
