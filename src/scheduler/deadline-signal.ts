import { reasonOf, unwatch, watch } from '../abort-watch.ts';
import { requireDelay } from '../arguments.ts';
import { AbortError, TimeoutError } from '../errors.ts';
import { type WaitEnd, Waiter } from '../waiter.ts';
import type { TimerLabel } from './timer-label.ts';
import { begin, checkedStart, type WaitOptions } from './wait-start.ts';

/**
 * An AbortSignal that aborts at a deadline, with a TimeoutError. Disposing it cancels its timer, and is silent: it
 * never aborts then. If anybody else cancels its timer, by id or with its group, it aborts with an AbortError.
 */
export type DeadlineSignal = AbortSignal & Disposable;

/**
 * Aborts a deadline signal: when its time is up, when its timer is cancelled, or with the outer signal. Like the timers
 * of AbortSignal.timeout, its own does not hold the process.
 */
class DeadlineTimer extends Waiter {
  override readonly call = 'signalAfter';
  readonly isSettledByClose = false;
  readonly controller = new AbortController();
  private readonly error: TimeoutError;
  /** Undefined once nothing depends on it any more. */
  private outer: AbortSignal | undefined;
  private isDisposed = false;

  constructor(error: TimeoutError, outer: AbortSignal | undefined) {
    super(false);
    this.error = error;
    this.outer = outer;
  }

  readonly dispose = (): void => {
    this.isDisposed = true;
    this.leave();
    this.outer = undefined;
  };

  readonly abort = (): void => {
    this.leave();
    const { outer } = this;
    this.outer = undefined;
    if (!this.isDisposed) this.controller.abort(reasonOf(outer));
  };

  protected override begun(): void {
    // If it has been disposed, or the outer signal has aborted, that was after `close` had handed the timer back.
    if (this.isDisposed || this.outer?.aborted) void Promise.resolve().then(this.abort);
    else if (this.outer !== undefined) watch(this.outer, this.abort);
  }

  protected override letGo(): void {
    if (this.outer !== undefined) unwatch(this.outer, this.abort);
  }

  protected override ended(how: WaitEnd): void {
    if (how !== 'handed back') this.outer = undefined;
    if (this.isDisposed) return;
    if (how === 'delivered') this.controller.abort(this.error);
    else if (how !== 'handed back') this.controller.abort(AbortError.by(how));
  }
}

/** See {@link Scheduler.signalAfter}. `plain`: the calls without a label. @internal */
export function deadlineSignal(plain: TimerLabel, delay: number, options?: WaitOptions): DeadlineSignal {
  requireDelay(delay);
  const start = checkedStart('signalAfter', plain, options);
  const outer = start.signal;
  const timer = new DeadlineTimer(new TimeoutError(delay, start.starts.name || undefined), outer);
  if (outer?.aborted) timer.abort();
  else begin(timer, start, delay);
  return Object.defineProperty(timer.controller.signal, Symbol.dispose, { value: timer.dispose }) as DeadlineSignal;
}
