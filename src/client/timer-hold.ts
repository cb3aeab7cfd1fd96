import type { KeepAlive } from './keep-alive.ts';

/** What the hold needs of the client. */
export interface TimerHoldHost {
  /** Live timers. */
  readonly size: number;
}

/**
 * Whether live timers keep the process alive: while more are live than are unref'd. It is settled in the very call that
 * changes it; a process that is about to end must not be kept for a turn that would find nothing to wait for.
 */
export class TimerHold {
  isHolding = false;
  /** Live timers that do not keep the process alive: deadline signals, and timeouts that are unref'd. */
  unrefCount = 0;
  private isRef = true;
  private readonly host: TimerHoldHost;
  private readonly keepAlive: KeepAlive;

  constructor(host: TimerHoldHost, keepAlive: KeepAlive) {
    this.host = host;
    this.keepAlive = keepAlive;
  }

  /** Live timers that keep the process alive. */
  get refCount(): number {
    return this.isRef ? Math.max(0, this.host.size - this.unrefCount) : 0;
  }

  /** See `Client.heldResources`. */
  heldResources(): string[] {
    return this.keepAlive.heldResources();
  }

  /** Adjusts the number of live timers that do not keep the process alive. */
  adjustUnref(by: number): void {
    this.unrefCount += by;
    this.settle();
  }

  /** Sets whether any live timer keeps the process alive. */
  setRef(isRef: boolean): void {
    this.isRef = isRef;
    this.settle();
  }

  settle(): void {
    const hold = this.refCount > 0;
    if (hold === this.isHolding) return;
    this.isHolding = hold;
    this.keepAlive.holdForTimers(hold);
  }
}
