import type { KeepAlive } from './keep-alive.ts';

// Taken once: a program may replace them.
const { max } = Math;

/** The parts of the client that it needs. */
export interface TimerRefsHost {
  /** Live timers. */
  readonly size: number;
}

/**
 * Whether live timers keep the process alive: they do while there are more of them than unref'd ones. The call that changes this
 * updates it at once; a process that is about to end must not be kept for a turn without work.
 */
export class TimerRefs {
  keepsAlive = false;
  /** Live timers that do not keep the process alive: deadline signals, and timeouts that are unref'd. */
  unrefCount = 0;
  private isRef = true;
  private readonly host: TimerRefsHost;
  private readonly keepAlive: KeepAlive;

  constructor(host: TimerRefsHost, keepAlive: KeepAlive) {
    this.host = host;
    this.keepAlive = keepAlive;
  }

  /** Live timers that keep the process alive. */
  get refCount(): number {
    return this.isRef ? max(0, this.host.size - this.unrefCount) : 0;
  }

  /** See `Client.heldResources`. */
  heldResources(): string[] {
    return this.keepAlive.heldResources();
  }

  /** Adjusts the number of live timers that do not keep the process alive. */
  adjustUnref(by: number): void {
    this.unrefCount += by;
    this.updateRef();
  }

  /** Sets whether any live timer keeps the process alive. */
  setRef(isRef: boolean): void {
    this.isRef = isRef;
    this.updateRef();
  }

  updateRef(): void {
    const keepsAlive = this.refCount > 0;
    if (keepsAlive === this.keepsAlive) return;
    this.keepsAlive = keepsAlive;
    this.keepAlive.keepForTimers(keepsAlive);
  }
}
