import { reasonOf, unwatch, watch } from '../abort-watch.ts';
import { requireDelay } from '../arguments.ts';
import { AbortError, InvalidArgumentError, SchedulerClosedError, TimeoutError } from '../errors.ts';
import { type WaitEnd, Waiter } from '../waiter.ts';
import { requireOpen } from './require-open.ts';
import { clientOf, type TimerLabel } from './timer-label.ts';
import { begin, checkedStart, type WaitOptions, type WaitStart } from './wait-start.ts';

/** The work to wait for: a promise, or a function that starts the work; its signal aborts when the wait ends early. */
export type BoundedWork<T> = PromiseLike<T> | ((signal: AbortSignal) => T | PromiseLike<T>);

/** A wait that has begun. */
abstract class Wait<T> extends Waiter {
  abstract override readonly call: 'sleep' | 'withTimeout';
  readonly isSettledByClose = true;
  /** Settles as it ends. */
  readonly promise: Promise<T>;
  private resolve: ((value: T) => void) | undefined;
  private reject: ((error: unknown) => void) | undefined;
  /** Which ends it. */
  private signal: AbortSignal | undefined;
  /** Which tells the work that it has ended. */
  protected controller: AbortController | undefined;

  constructor(delay: number) {
    super(delay !== Number.POSITIVE_INFINITY);
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Called when its time is up. */
  protected abstract timeUp(): void;

  protected get hasEnded(): boolean {
    return this.resolve === undefined;
  }

  /**
   * Starts its timer, unless it has ended already. Throws AbortError where its signal has aborted; else like `begin`.
   */
  start(start: WaitStart, delay: number): void {
    const { signal } = start;
    if (signal?.aborted) throw new AbortError(reasonOf(signal));
    if (this.hasEnded) return;
    this.signal = signal;
    begin(this, start, delay);
  }

  /** Ends it with a value. */
  settle(value: T): void {
    const { resolve } = this;
    this.end();
    resolve?.(value);
  }

  /** Ends it with an error. */
  fail(error: unknown): void {
    const { reject } = this;
    this.end();
    reject?.(error);
  }

  /** Ends it before the work has ended, which is told why. */
  protected giveUp(error: Error, reason: unknown = error): void {
    const { controller } = this;
    this.fail(error);
    controller?.abort(reason);
  }

  protected override begun(): void {
    if (this.signal !== undefined) watch(this.signal, this.aborted);
  }

  protected override letGo(): void {
    if (this.signal !== undefined) unwatch(this.signal, this.aborted);
  }

  protected override ended(how: WaitEnd): void {
    if (how === 'delivered') this.timeUp();
    else if (how === 'handed back') this.giveUp(new SchedulerClosedError(this.call, 'was pending when'));
    else this.giveUp(AbortError.by(how));
  }

  private readonly aborted = (): void => {
    const reason = reasonOf(this.signal);
    this.giveUp(new AbortError(reason), reason);
  };

  protected end(): void {
    this.leave();
    this.resolve = undefined;
    this.reject = undefined;
    this.signal = undefined;
    this.controller = undefined;
  }
}

class Sleep extends Wait<void> {
  override readonly call = 'sleep';

  protected override timeUp(): void {
    this.settle();
  }
}

class BoundedWait<T> extends Wait<T> {
  override readonly call = 'withTimeout';
  private readonly delay: number;
  private label: string | undefined = undefined;
  /** Has the work hold nothing of it, once it has ended: a promise may live on for long. */
  private unfollow: (() => void) | undefined = undefined;

  constructor(delay: number) {
    super(delay);
    this.delay = delay;
  }

  /** Ends as the work does. If it has ended already, what the work rejects with is handled, and that is all. */
  follow(work: PromiseLike<T>): void {
    let wait: BoundedWait<T> | undefined = this.hasEnded ? undefined : this;
    this.unfollow = () => {
      wait = undefined;
    };
    work.then(
      (value) => wait?.settle(value),
      (error) => wait?.fail(error),
    );
  }

  /** Starts its timer, and then the work. */
  startWork(work: (signal: AbortSignal) => T | PromiseLike<T>, start: WaitStart): void {
    const controller = new AbortController();
    this.controller = controller;
    this.startFor(start);
    this.follow(new Promise((resolve) => resolve(work(controller.signal))));
  }

  startFor(start: WaitStart): void {
    this.label = start.starts.name || undefined;
    this.start(start, this.delay);
  }

  protected override timeUp(): void {
    this.giveUp(new TimeoutError(this.delay, this.label));
  }

  protected override end(): void {
    super.end();
    this.unfollow?.();
    this.unfollow = undefined;
  }
}

/** See {@link Scheduler.sleep}. `plain`: the calls without a label. @internal */
export async function sleep(plain: TimerLabel, delay: number, options?: WaitOptions): Promise<void> {
  requireOpen(clientOf(plain), 'sleep');
  requireDelay(delay);
  const wait = new Sleep(delay);
  const start = checkedStart('sleep', plain, options);
  try {
    wait.start(start, delay);
  } catch (error) {
    wait.fail(error); // it may have been settled within the call
  }
  return wait.promise;
}

/** See {@link Scheduler.withTimeout}. @internal */
export async function withTimeout<T>(
  plain: TimerLabel,
  work: BoundedWork<T>,
  delay: number,
  options?: WaitOptions,
): Promise<T> {
  if (typeof work !== 'function' && typeof work?.then !== 'function') {
    throw new InvalidArgumentError('work', 'must be a promise or a function', work);
  }
  const start = startOrThrow(plain, work, delay, options);
  const wait = new BoundedWait<T>(delay);
  try {
    if (typeof work === 'function') {
      wait.startWork(work, start);
    } else {
      wait.follow(work);
      wait.startFor(start);
    }
  } catch (error) {
    wait.fail(error);
  }
  return wait.promise;
}

const ignore = (): void => undefined;

/** Checks what a bounded wait is to begin with. If it throws, what the work rejects with is handled. */
function startOrThrow(
  plain: TimerLabel,
  work: BoundedWork<unknown>,
  delay: number,
  options: WaitOptions | undefined,
): WaitStart {
  try {
    requireOpen(clientOf(plain), 'withTimeout');
    if (delay !== Number.POSITIVE_INFINITY) requireDelay(delay);
    return checkedStart('withTimeout', plain, options);
  } catch (error) {
    if (typeof work !== 'function') work.then(ignore, ignore);
    throw error;
  }
}
