import { setImmediate, setTimeout } from '../../time/native-timers.ts';
import { performanceNow } from '../../unfaked.ts';
import { DurableStoreError } from './durable-error.ts';

interface Wait {
  /** ms of the monotonic clock */
  readonly since: number;
  readonly reject: (error: Error) => void;
}

/**
 * Waits for the answers of a store. A wait is given up when no answer at all has come for `time` ms: many calls at
 * once, of which each is answered in its turn, are waited for as long as that takes. One timer is enough, Node's: the
 * scheduler may be the caller's, and have no room.
 */
export class Patience {
  /** ms */
  readonly time: number;
  /** What a wait rejects with that has been given up. */
  readonly error: () => DurableStoreError;
  /** In the order in which they came. */
  private readonly waits = new Set<Wait>();
  private answeredAt = Number.NEGATIVE_INFINITY;
  /** Holds the process while there is a wait. */
  private timer: NodeJS.Timeout | undefined;

  /** `why` says what may be the reason. */
  constructor(time: number, store: string, why = '') {
    this.time = time;
    const message = `${store} has not answered in ${time} ms${why}`;
    this.error = () => new DurableStoreError('ERR_STORE_UNREACHABLE', message);
  }

  /** Settles as the work does, or rejects when it is given up. */
  bounded<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait: Wait = { since: performanceNow(), reject };
      this.waits.add(wait);
      if (this.timer === undefined) this.look(this.time);
      else if (this.waits.size === 1) this.timer.ref();
      const answered = (): void => {
        this.answeredAt = performanceNow();
        if (this.waits.delete(wait) && this.waits.size === 0) this.timer?.unref();
      };
      work.finally(answered).then(resolve, reject);
    });
  }

  private look(after: number): void {
    // After a look at what has come: this thread may have been too busy to see it.
    this.timer = setTimeout(() => setImmediate(this.giveUp), Math.max(1, Math.ceil(after)));
  }

  private readonly giveUp = (): void => {
    const now = performanceNow();
    this.timer = undefined;
    for (const wait of this.waits) {
      const left = Math.max(wait.since, this.answeredAt) + this.time - now;
      if (left > 0) {
        this.look(left);
        return;
      }
      this.waits.delete(wait);
      wait.reject(this.error());
    }
  };
}
