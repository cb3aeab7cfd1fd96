import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Holds the process while there is a reason to: live timers that are ref'd, a call that waits for its answer. A worker
 * thread or a port of its own would hold it always or never; this is one open port that is ref'd while reasons exist.
 */
export class KeepAlive {
  private readonly port: MessagePort;
  private reasons = 0;
  private timers = false;

  constructor() {
    this.port = new MessageChannel().port1;
    this.port.unref();
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
    this.port.close();
  }

  private change(by: 1 | -1): void {
    this.reasons += by;
    if (by === 1 && this.reasons === 1) this.port.ref();
    if (by === -1 && this.reasons === 0) this.port.unref();
  }
}
