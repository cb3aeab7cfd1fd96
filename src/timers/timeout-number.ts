import { outsideContexts } from '../async-context/async-context.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';

const LONGEST = 2 ** 31 - 1;
const nothing = (): void => undefined;

/**
 * The number of a timeout for clearTimeout, valid as long as the timeout lives, also for Node's own clearTimeout and for another
 * copy of this package. Only Node can create such a number: it belongs to one of Node's own intervals, which stands for the
 * timeout, does nothing, and loses its callback when Node clears the number.
 */
export class TimeoutNumber {
  private standIn: NodeJS.Timeout | undefined;
  private last = 0;

  of(timeout: { close(): unknown; readonly _destroyed: boolean }): number {
    const isOver = timeout._destroyed;
    if (this.standIn !== undefined || (isOver && this.last !== 0)) return this.last;
    const standIn = outsideContexts(() => setInterval(nothing, LONGEST)).unref();
    const set = (callback: unknown): void => {
      if (callback === null) timeout.close();
    };
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, get: () => nothing, set });
    this.standIn = standIn;
    this.last = +standIn;
    if (isOver) this.drop();
    return this.last;
  }

  /** Frees the number. */
  drop(): void {
    const { standIn } = this;
    if (standIn === undefined) return;
    this.standIn = undefined;
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, writable: true, value: nothing });
    clearInterval(standIn);
  }
}
