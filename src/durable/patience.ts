import { setTimeout } from '../time/native-timers.ts';
import { Fifo } from './fifo.ts';

interface Wait {
  /** ms of the monotonic clock */
  readonly until: number;
  /** Undefined once the work has settled. */
  reject: ((error: Error) => void) | undefined;
}

/**
 * Waits for work, and no longer than the same time for all: so they give up in the order in which they came, and one timer is enough.
 * It is Node's: the scheduler may be the caller's, and have no room.
 */
export class Patience {
  private readonly time: number;
  private readonly error: () => Error;
  private readonly waits = new Fifo<Wait>();
  /** For the first that waits; holds the process while there is one. */
  private timer: NodeJS.Timeout | undefined;

  /** `time`: in ms. `error`: what a wait rejects with that has been given up. */
  constructor(time: number, error: () => Error) {
    this.time = time;
    this.error = error;
  }

  /** Settles as the work does, or rejects when the time is over. */
  bounded<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { until: performance.now() + this.time, reject };
      this.waits.push(wait);
      if (this.timer === undefined) this.look(this.time);
      else if (this.waits.first === wait) this.timer.ref();
      work.then(
        (value) => {
          this.end(wait);
          resolve(value);
        },
        (error) => {
          this.end(wait);
          reject(error);
        },
      );
    });
  }

  private end(wait: Wait): void {
    wait.reject = undefined;
    while (this.waits.first?.reject === undefined && this.waits.shift() !== undefined);
    if (this.waits.first === undefined) this.timer?.unref();
  }

  private look(after: number): void {
    this.timer = setTimeout(this.giveUp, Math.max(1, Math.ceil(after)));
  }

  private readonly giveUp = (): void => {
    const now = performance.now();
    for (let { first } = this.waits; first !== undefined && first.until <= now; { first } = this.waits) {
      this.waits.shift();
      first.reject?.(this.error());
    }
    const { first } = this.waits;
    this.timer = undefined;
    if (first !== undefined) this.look(first.until - now);
  };
}
