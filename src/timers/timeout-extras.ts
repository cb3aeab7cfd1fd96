import { outsideContexts } from '../async-context/async-context.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { IntervalGrid } from './missed-calls.ts';

const LONGEST = 2 ** 31 - 1;
const nothing = (): void => undefined;

/** What few timeouts have, and only those keep. */
export class TimeoutExtras {
  /** All arguments of the callback. */
  given: readonly unknown[];
  /** Of an interval. */
  grid: IntervalGrid | undefined;
  /** ms, where that is more than a word holds. */
  longDelay: number | undefined;
  private standIn: NodeJS.Timeout | undefined;
  private lastNumber = 0;

  constructor(given: readonly unknown[]) {
    this.given = given;
  }

  /**
   * A number for clearTimeout, as long as the timeout lives: for Node's own clearTimeout as well, and for that of another
   * copy of this package. Only Node can give such a number: it is that of an interval of Node's that stands in for
   * the timeout, does nothing, and is asked by Node to drop its callback when the number is cleared.
   */
  number(timeout: { close(): unknown }, isOver: boolean): number {
    if (this.standIn !== undefined || (isOver && this.lastNumber !== 0)) return this.lastNumber;
    const standIn = outsideContexts(() => setInterval(nothing, LONGEST)).unref();
    const set = (callback: unknown): void => {
      if (callback === null) timeout.close();
    };
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, get: () => nothing, set });
    this.standIn = standIn;
    this.lastNumber = +standIn;
    if (isOver) this.dropNumber();
    return this.lastNumber;
  }

  /** The number is nobody's any more. */
  dropNumber(): void {
    const { standIn } = this;
    if (standIn === undefined) return;
    this.standIn = undefined;
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, writable: true, value: nothing });
    clearInterval(standIn);
  }
}
