import { MessageChannel } from 'node:worker_threads';

/**
 * Keeps the process alive while there is a reason to: live timers that are ref'd, a call that waits for its answer. A worker
 * thread or a port of its own would hold it always or never; this is one open port that is ref'd while reasons exist.
 */
export class KeepAlive {
  /** Both ends: one that nobody holds is collected, and closes the other. */
  private readonly channel = new MessageChannel();
  private reasons = 0;
  private timers = false;

  constructor() {
    this.channel.port1.unref();
  }

  /** Whether live, ref'd timers hold the process. */
  holdForTimers(hold: boolean): void {
    if (hold === this.timers) return;
    this.timers = hold;
    this.change(hold ? 1 : -1);
  }

  /** Holds the process until the promise has settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    this.change(1);
    try {
      return await promise;
    } finally {
      this.change(-1);
    }
  }

  release(): void {
    this.holdForTimers(false);
    this.channel.port1.close();
  }

  private change(by: 1 | -1): void {
    this.reasons += by;
    if (by === 1 && this.reasons === 1) this.channel.port1.ref();
    if (by === -1 && this.reasons === 0) this.channel.port1.unref();
  }
}
