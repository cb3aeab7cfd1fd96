import { requireDelay } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import { CANCELLED, type Cancelled, HANDED_BACK, type HandedBack } from '../client/hand-back.ts';
import { AbortError, InvalidArgumentError, SchedulerClosedError, TimeoutError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { TimerId } from '../timer-id.ts';
import { unwatch, watch } from './abort-watch.ts';
import { RENAMED_WAIT_OPTIONS } from './renamed.ts';
import { expectWaits, type WorkerHint } from './timer-group.ts';
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

let turn = 0;
/** Spreads timers without a hint over the shards. @internal */
const nextHint = (): number => {
  turn = (turn + 1) | 0;
  return turn;
};

const WAIT_OPTIONS = { signal: 0, workerHint: 0, label: 0 } satisfies Record<keyof WaitOptions, 0>;

/** A wait that has begun: the argument of its timer. */
class Wait implements HandedBack, Cancelled {
  readonly call: string;
  /** Called when its timer fires. */
  readonly expire: () => void;
  /** Called when it is to end before. */
  readonly giveUp: (error: Error) => void;

  constructor(call: string, expire: () => void, giveUp: (error: Error) => void) {
    this.call = call;
    this.expire = expire;
    this.giveUp = giveUp;
  }

  [HANDED_BACK](): void {
    this.giveUp(new SchedulerClosedError(this.call, 'was pending when'));
  }

  [CANCELLED](): void {
    this.giveUp(AbortError.byGroup());
  }
}

const expire = (wait: Wait): void => wait.expire();

/** See {@link Scheduler.sleep}. `plain`: the calls without a label. @internal */
export const sleep = (plain: TimerLabel, delay: number, options?: WaitOptions): Promise<void> =>
  wait<void>('sleep', plain, undefined, delay, options);

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
  return wait('withTimeout', plain, work, delay, options);
}

/** Without work it resolves after the delay; else that is too late. */
async function wait<T>(
  call: string,
  plain: TimerLabel,
  work: BoundedWork<T> | undefined,
  delay: number,
  options: WaitOptions = {},
): Promise<T> {
  const client = clientOf(plain);
  const { signal, workerHint = nextHint(), label } = options;
  const controller = typeof work === 'function' ? new AbortController() : undefined;
  let id: TimerId | undefined;
  let aborted: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      if (work !== undefined && typeof work !== 'function') work.then(resolve, reject); // first, so that a rejection is handled
      refuseUnknown(options, WAIT_OPTIONS, 'options', RENAMED_WAIT_OPTIONS);
      if (client.isClosed) throw new SchedulerClosedError(call);
      requireDelay(delay);
      if (signal?.aborted) throw new AbortError(signal.reason);
      const giveUp = (error: Error, reason: unknown = error): void => {
        reject(error);
        controller?.abort(reason);
      };
      const starts = labelOr(plain, label);
      const ended = work === undefined ? resolve : () => giveUp(new TimeoutError(delay, label?.name));
      expectWaits(workerHint);
      id = starts.scheduleAfter(workerHint, delay, expire, new Wait(call, ended as () => void, giveUp));
      if (signal !== undefined) {
        aborted = () => giveUp(new AbortError(signal.reason), signal.reason);
        watch(signal, aborted);
      }
      if (controller !== undefined) {
        // Not resolve(promise): after that the wait could no longer be rejected.
        Promise.resolve((work as (signal: AbortSignal) => T | PromiseLike<T>)(controller.signal)).then(resolve, reject);
      }
    });
  } finally {
    if (id !== undefined && !client.isClosed) client.cancel(id);
    if (signal !== undefined && aborted !== undefined) unwatch(signal, aborted);
  }
}

/** An AbortSignal that aborts at a deadline, with a TimeoutError. Disposing it cancels its timer; then it never aborts. */
export type DeadlineSignal = AbortSignal & Disposable;

/** The timer of a deadline signal. Like the timers of AbortSignal.timeout, it does not keep the process alive. */
class DeadlineTimer implements Cancelled {
  readonly controller = new AbortController();
  private readonly client: Client;
  private readonly error: TimeoutError;
  private readonly outer: AbortSignal | undefined;
  private id: TimerId = Number.NaN;

  constructor(client: Client, error: TimeoutError, outer: AbortSignal | undefined) {
    this.client = client;
    this.error = error;
    this.outer = outer;
  }

  begin(id: TimerId): void {
    this.id = id;
    this.client.refs.adjustUnref(1);
    if (this.outer !== undefined) watch(this.outer, this.abort);
  }

  expire(): void {
    this.release();
    this.controller.abort(this.error);
  }

  /** By the group that was its hint. */
  [CANCELLED](): void {
    this.release();
  }

  readonly cancel = (): void => {
    if (!this.client.isClosed && this.client.cancel(this.id)) this.release();
  };

  private readonly abort = (): void => {
    this.cancel();
    this.controller.abort(this.outer?.reason);
  };

  private release(): void {
    this.client.refs.adjustUnref(-1);
    if (this.outer !== undefined) unwatch(this.outer, this.abort);
  }
}

const expireSignal = (timer: DeadlineTimer): void => timer.expire();

/** See {@link Scheduler.signalAfter}. `plain`: the calls without a label. @internal */
export function deadlineSignal(plain: TimerLabel, delay: number, options: WaitOptions = {}): DeadlineSignal {
  refuseUnknown(options, WAIT_OPTIONS, 'options', RENAMED_WAIT_OPTIONS);
  const { workerHint = nextHint(), label, signal: outer } = options;
  const starts = labelOr(plain, label);
  const timer = new DeadlineTimer(clientOf(plain), new TimeoutError(delay, label?.name), outer);
  const { signal } = timer.controller;
  expectWaits(workerHint);
  if (outer?.aborted) timer.controller.abort(outer.reason);
  else timer.begin(starts.scheduleAfter(workerHint, delay, expireSignal, timer));
  return Object.defineProperty(signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
