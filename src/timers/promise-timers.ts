import { reasonOf, unwatch, watch } from '../abort-watch.ts';
import { HANDED_BACK } from '../client/home/home-timer.ts';
import { AbortError, SchedulerClosedError } from '../errors.ts';
import { native } from '../time/native-timers.ts';
import { millisecondsOf } from './delays.ts';
import { promisesLike, setImmediateOf, type TimersPromises } from './likeness.ts';
import { REFUSED, Timeout } from './timeout.ts';
import type { TimeoutSource } from './timeout-source.ts';

const nodes = native.promises;

/**
 * Whether Node's own function is to set a timer that the source has refused with an error.
 * @internal
 */
export type IsRefused = (error: unknown) => boolean;

interface Options {
  signal?: AbortSignal;
  ref?: boolean;
}

/** Rejects the promise that waits for it. By a symbol: a program may call a timeout's methods through a proxy. */
const GIVE_UP = Symbol('giveUp');
/** Ends it without a word: whoever waits knows already. */
const LEAVE = Symbol('leave');

/**
 * An awaited timeout. However its timer ends before it is due, its promise rejects: with a SchedulerClosedError where
 * the scheduler is closed, with an AbortError where the program clears the handle, which `scheduler.liveTimers()`
 * shows.
 */
class AwaitedTimeout extends Timeout {
  /** @internal */
  readonly [GIVE_UP]: (error: Error) => void;
  private readonly call: 'setTimeout' | 'setInterval';

  constructor(
    source: TimeoutSource,
    call: 'setTimeout' | 'setInterval',
    settle: () => void,
    giveUp: (error: Error) => void,
    delay: unknown,
  ) {
    const ms = millisecondsOf(delay, source.longDelays);
    super(source.self, settle, ms, undefined, call === 'setInterval');
    this[GIVE_UP] = giveUp;
    this.call = call;
  }

  /** Called by whatever clears it: every way leads here. */
  override close(): this {
    super.close();
    this[GIVE_UP](AbortError.by('cancelled')); // without effect where it has ended before
    return this;
  }

  /** @internal */
  [LEAVE](): void {
    super.close();
  }

  override [HANDED_BACK](): void {
    super[HANDED_BACK]();
    this[GIVE_UP](new SchedulerClosedError(this.call, 'was pending when'));
  }

  override [REFUSED](error: Error): void {
    this[GIVE_UP](error);
  }
}

/**
 * Creates the promise functions; after Node's documentation and lib/timers/promises.js, v20. They refuse what Node
 * refuses. `isRefused`: see `timersOf`.
 * @internal
 */
export function createPromises(source: () => TimeoutSource | undefined, isRefused: IsRefused): TimersPromises {
  function setTimeout<T>(delay?: number, value?: T, options: Options = {}): Promise<T> {
    const own = source();
    // may reject
    if (own === undefined || !areGood(delay, options)) return nodes.setTimeout(delay, value as T, options);
    const { signal, ref = true } = options;
    if (signal?.aborted) return Promise.reject(new AbortError(reasonOf(signal), ''));
    let abort: (() => void) | undefined;
    const slept = new Promise<T>((resolve, reject) => {
      let timeout: AwaitedTimeout;
      try {
        timeout = new AwaitedTimeout(own, 'setTimeout', () => resolve(value as T), reject, delay);
      } catch (error) {
        if (!isRefused(error)) throw error;
        resolve(nodes.setTimeout(delay, value as T, options));
        return;
      }
      if (!ref) timeout.unref();
      if (signal === undefined) return;
      abort = () => {
        timeout[LEAVE]();
        reject(new AbortError(reasonOf(signal), ''));
      };
      try {
        watch(signal, abort);
      } catch (error) {
        timeout[LEAVE](); // it is refused, and leaves nothing
        throw error;
      }
    });
    return abort === undefined ? slept : endingWith(slept, () => unwatch(signal as AbortSignal, abort as () => void));
  }

  async function* setInterval<T>(delay?: number, value?: T, options: Options = {}): AsyncGenerator<T, undefined> {
    const own = source();
    // may throw
    if (own === undefined || !areGood(delay, options)) return yield* nodes.setInterval(delay, value as T, options);
    const { signal, ref = true } = options;
    if (signal?.aborted) throw new AbortError(reasonOf(signal), '');
    let calls = 0;
    let wake: (() => void) | undefined;
    const awaken = (): void => {
      wake?.();
      wake = undefined;
    };
    const called = (): void => {
      calls += 1;
      awaken();
    };
    let ended: Error | undefined;
    const end = (error: Error): void => {
      ended = error;
      awaken();
    };
    let interval: AwaitedTimeout;
    try {
      interval = new AwaitedTimeout(own, 'setInterval', called, end, delay);
    } catch (error) {
      if (!isRefused(error)) throw error;
      return yield* nodes.setInterval(delay, value as T, options);
    }
    if (!ref) interval.unref();
    const abort = (): void => {
      interval[LEAVE](); // yields the calls so far, and no more
      awaken();
    };
    try {
      if (signal !== undefined) watch(signal, abort);
      while (!signal?.aborted) {
        if (calls === 0 && ended === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        for (; calls > 0; calls--) yield value as T;
        if (ended !== undefined) throw ended;
      }
      throw new AbortError(reasonOf(signal), '');
    } finally {
      interval[LEAVE]();
      if (signal !== undefined) unwatch(signal, abort);
    }
  }

  return { ...promisesLike(setTimeout, setInterval), setImmediate: setImmediateOf(nodes) };
}

/**
 * Like `finally`, but as many microtasks later as in Node: a program may depend on which of two promises settles first.
 */
function endingWith<T>(promise: Promise<T>, end: () => void): Promise<T> {
  const ended = new Promise<T>((resolve, reject) => promise.then(resolve, reject)).finally(end);
  return new Promise((resolve, reject) => ended.then(resolve, reject));
}

/** Whether Node accepts these arguments. */
function areGood(delay: unknown, options: unknown): options is Options {
  if (delay !== undefined && typeof delay !== 'number') return false;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  const { signal, ref } = options as Record<keyof Options, unknown>;
  const isSignal = typeof signal === 'object' && signal !== null && 'aborted' in signal;
  return (signal === undefined || isSignal) && (ref === undefined || typeof ref === 'boolean');
}
