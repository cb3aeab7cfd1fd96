import { outsideContexts } from '../async-context/async-context.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { IntervalGrid } from './missed-calls.ts';

const LONGEST = 2 ** 31 - 1;
const nothing = (): void => undefined;

/** Fields that few timeouts have. */
export class TimeoutExtras {
  /** All arguments of the callback. */
  given: readonly unknown[];
  /** Set for an interval. */
  grid: IntervalGrid | undefined;
  /** The delay in ms if it is too long for a word. */
  longDelay: number | undefined;
  private standIn: NodeJS.Timeout | undefined;
  private lastNumber = 0;

  constructor(given: readonly unknown[]) {
    this.given = given;
  }

  /**
   * Returns a number for clearTimeout, valid as long as the timeout lives, also for Node's own clearTimeout and for another copy
   * of this package. Only Node can create such a number: it belongs to one of Node's own intervals, which stands for the timeout,
   * does nothing, and loses its callback when Node clears the number.
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

  /** Frees the number. */
  dropNumber(): void {
    const { standIn } = this;
    if (standIn === undefined) return;
    this.standIn = undefined;
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, writable: true, value: nothing });
    clearInterval(standIn);
  }
}
