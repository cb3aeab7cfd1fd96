import { reasonOf, requireSignal, unwatch, watch } from '../abort-watch.ts';
import { requireDelay } from '../arguments.ts';
import { AbortError, InvalidArgumentError, SchedulerClosedError, TimeoutError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';
import { RENAMED_WAIT_OPTIONS } from '../renamed.ts';
import { awaited, type WaitEnd, Waiter } from '../waiter.ts';
import { requireOpen } from './require-open.ts';
import { placementOf, type WorkerHint } from './timer-group.ts';
import { clientOf, labelOr, type TimerLabel } from './timer-label.ts';

/** The work to wait for: a promise, or a function that starts the work; its signal aborts when the wait ends early. */
export type BoundedWork<T> = PromiseLike<T> | ((signal: AbortSignal) => T | PromiseLike<T>);

export interface WaitOptions {
  /** Aborting it ends the wait; its reason is the cause of the AbortError. Default: none. */
  signal?: AbortSignal;
  /** Places the timer, or the group whose end is the end of the wait. Default: the shards in turn. */
  workerHint?: WorkerHint;
  /** With which the timer is started. Default: none. */
  label?: TimerLabel;
}

const WAIT_OPTIONS = { signal: 0, workerHint: 0, label: 0 } satisfies Record<keyof WaitOptions, 0>;

/** The deadline of a wait without a limit, in ms. */
const NEVER = Number.MAX_VALUE;

let turn = 0;
/** Spreads timers without a hint over the shards. @internal */
const nextHint = (): number => {
  turn = (turn + 1) | 0;
  return turn;
};

/** With what a wait begins. */
interface WaitStart {
  readonly starts: TimerLabel;
  readonly workerHint: WorkerHint;
  readonly signal: AbortSignal | undefined;
}

/**
 * Checks the options of a call, each of which it reads once. Throws InvalidArgumentError, InvalidConfigError,
 * SchedulerClosedError.
 */
function checkedStart(call: string, plain: TimerLabel, options: WaitOptions = {}): WaitStart {
  requireOptions(options, WAIT_OPTIONS, 'options', undefined, RENAMED_WAIT_OPTIONS);
  const { workerHint = nextHint(), label, signal } = options;
  requireSignal(signal);
  const starts = labelOr(plain, label);
  const client = clientOf(plain);
  placementOf(workerHint, client);
  requireOpen(client, call); // last, since the options may have run code of the program
  return { starts, workerHint, signal };
}

/** Starts a waiter's timer; if it is refused, nothing is left of it. Throws CapacityExceededError, AllocationError. */
function begin(waiter: Waiter, { starts, workerHint }: WaitStart, delay: number): void {
  try {
    if (delay === Number.POSITIVE_INFINITY) starts.schedule(workerHint, NEVER, awaited, waiter);
    else starts.scheduleAfter(workerHint, delay, awaited, waiter);
  } catch (error) {
    waiter.leave();
    throw error;
  }
}

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
  wait.start(checkedStart('sleep', plain, options), delay);
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
  const wait = new BoundedWait<T>(delay);
  if (typeof work !== 'function') wait.follow(work); // first, so that a rejection is handled
  try {
    requireOpen(clientOf(plain), 'withTimeout');
    if (delay !== Number.POSITIVE_INFINITY) requireDelay(delay);
    const start = checkedStart('withTimeout', plain, options);
    if (typeof work === 'function') wait.startWork(work, start);
    else wait.startFor(start);
  } catch (error) {
    wait.fail(error);
  }
  return wait.promise;
}

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
  private readonly outer: AbortSignal | undefined;
  private isDisposed = false;

  constructor(error: TimeoutError, outer: AbortSignal | undefined) {
    super(false);
    this.error = error;
    this.outer = outer;
  }

  readonly dispose = (): void => {
    this.isDisposed = true;
    this.leave();
  };

  readonly abort = (): void => {
    this.leave();
    if (!this.isDisposed) this.controller.abort(reasonOf(this.outer));
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
