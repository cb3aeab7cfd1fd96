import { outsideContexts } from '../async-context/async-context.ts';
import { process } from '../process.ts';
import { setImmediate } from '../time/native-timers.ts';

/** Native timers of a client that may come in one phase: for its hold, its alarm, its nudge and an inline shard. */
const MOST = 4;

/**
 * The phase of the event loop in which Node calls timers. A timer that is set in this phase does not fire in it, however long the
 * callback takes that sets it. But two of a client's native timers may be due in the same phase, and the second would find timers
 * due that the callbacks of the first have set. So the phase is open from the first of them until the loop's immediates come.
 * These also come before the rest that such a turn has left to deliver. A loop that ends has no immediates; then the phase ends
 * before `beforeExit` is emitted.
 */
export class TimersPhase {
  isOpen = false;
  /** Number of timers that have come since it was opened. */
  private timers = 0;
  /** Immediates no longer come: see `timerCame`. */
  private isEndless = false;

  /**
   * Called when a native timer has brought a turn that has left something. `isLast`: the loop may end with this phase, without
   * immediates.
   */
  open(isLast: boolean): void {
    if (this.isOpen || this.isEndless) return;
    try {
      outsideContexts(this.setEnd);
      if (isLast) process.prependOnceListener('beforeExit', this.end); // before a listener that throws
      this.isOpen = true;
      this.timers = 0;
    } catch {
      // Refused: timers set in the phase may fire in it.
    }
  }

  /**
   * Called when a native timer has come. If there are too many for one phase, no immediates come: Node 20 and 22 can get into
   * that state.
   */
  timerCame(): void {
    if (!this.isOpen) return;
    this.timers += 1;
    if (this.timers < MOST) return;
    this.isOpen = false;
    this.isEndless = true;
  }

  /** Ends the phase with the next immediates, even if they do not hold the process. */
  private readonly setEnd = (): void => void setImmediate(this.end).unref();

  private readonly end = (): void => {
    this.isOpen = false;
    this.isEndless = false;
    process.removeListener('beforeExit', this.end);
  };
}
