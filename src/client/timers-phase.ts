import process from 'node:process';
import { outsideContexts } from '../async-context/async-context.ts';
import { setImmediate } from '../time/native-timers.ts';

/** Native timers of a client that may come in one phase: for its hold, its alarm, its nudge and an inline shard. */
const MOST = 4;

/**
 * The phase of the event loop in which Node calls timers. None that is set in it fires in it, however long the callback takes
 * that sets it. But two of a client's native timers may be due in the same phase, and the second would find due what the
 * callbacks of the first have set. So the phase is open from those on until the loop's immediates come. These, too, come before
 * what such a turn has left to deliver. A loop that ends has no immediates; the phase then is over before `beforeExit` is emitted.
 */
export class TimersPhase {
  isOpen = false;
  /** Timers that have come since it was opened. */
  private timers = 0;
  /** Immediates no longer come: see `timerCame`. */
  private isEndless = false;

  /** A native timer has brought a turn, which has left something. `isLast`: the loop may end with this phase, without immediates. */
  open(isLast: boolean): void {
    if (this.isOpen || this.isEndless) return;
    try {
      outsideContexts(this.setEnd);
      if (isLast) process.prependOnceListener('beforeExit', this.end); // before one that throws
      this.isOpen = true;
      this.timers = 0;
    } catch {
      // Refused: what was set in the phase may fire in it.
    }
  }

  /** A native timer has come. One too many for a phase means that no immediate comes: Node 20 and 22 can be brought to that. */
  timerCame(): void {
    if (!this.isOpen) return;
    this.timers += 1;
    if (this.timers < MOST) return;
    this.isOpen = false;
    this.isEndless = true;
  }

  /** It comes with the next immediates, also as one that does not hold the process. */
  private readonly setEnd = (): void => void setImmediate(this.end).unref();

  private readonly end = (): void => {
    this.isOpen = false;
    this.isEndless = false;
    process.removeListener('beforeExit', this.end);
  };
}
