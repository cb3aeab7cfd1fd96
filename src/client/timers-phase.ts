import { outsideContexts } from '../async-context/async-context.ts';
import { setImmediate } from '../time/native-timers.ts';

/**
 * The phase of the event loop in which Node calls timers. None that is set in it fires in it, however long the callback takes
 * that sets it. But two of a client's native timers may be due in the same phase, and the second would find due what the
 * callbacks of the first have set. So the phase is open from those on until the loop's immediates come. These, too, come before
 * what such a turn has left to deliver. A loop that ends has no immediates; the phase then is over before `beforeExit` is emitted.
 */
export class TimersPhase {
  isOpen = false;

  /** A native timer has brought a turn, which has left something. `isLast`: the loop may end with this phase, without immediates. */
  open(isLast: boolean): void {
    if (this.isOpen) return;
    try {
      outsideContexts(this.setEnd);
      if (isLast) process.prependOnceListener('beforeExit', this.end); // before one that throws
      this.isOpen = true;
    } catch {
      // Refused: what was set in the phase may fire in it.
    }
  }

  /** It comes with the next immediates, also as one that does not hold the process. */
  private readonly setEnd = (): void => void setImmediate(this.end).unref();

  private readonly end = (): void => {
    this.isOpen = false;
    process.removeListener('beforeExit', this.end);
  };
}
