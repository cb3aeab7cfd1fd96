import { requireDelay } from '../client/arguments.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import { HANDED_BACK, type HandedBack } from '../client/hand-back.ts';
import type { WorkerHint } from '../client/placement.ts';
import { AbortError, InvalidArgumentError, SchedulerClosedError, TimeoutError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { TimerId } from '../timer-id.ts';
import { unwatch, watch } from './abort-watch.ts';

/** The work to wait for: a promise, or a function that starts the work; its signal aborts when the wait ends early. */
export type BoundedWork<T> = PromiseLike<T> | ((signal: AbortSignal) => T | PromiseLike<T>);

export interface BoundedWaitOptions {
  /** Aborting it ends the wait with an AbortError whose cause is the signal's reason. Default: none. */
  signal?: AbortSignal;
  /** Places the timer. Default: the shards in turn. */
  workerHint?: WorkerHint;
  /** How much later the wait may end, in ms. Default: the scheduler's slack. */
  slack?: number;
}

/** The call by which a wait starts its timer. */
interface StartWait {
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A>, argument: A): TimerId;
}

/** What a wait needs of its scheduler. @internal */
export interface WaitTimers extends StartWait {
  readonly size: number;
  withSlack(slack: number): StartWait;
  cancel(id: TimerId): boolean;
}

let turn = 0;
/** Spreads timers without a hint over the shards. @internal */
export const nextHint = (): number => {
  turn = (turn + 1) | 0;
  return turn;
};

/** A wait that has begun, and the calls that end it before the work does. */
interface Wait extends HandedBack {
  readonly delay: number;
  readonly giveUp: (error: Error, reason: unknown) => void;
}

const expire = ({ delay, giveUp }: Wait): void => {
  const error = new TimeoutError(delay);
  giveUp(error, error);
};

function handBack(this: Wait): void {
  const error = new SchedulerClosedError('timeout', 'was pending when');
  this.giveUp(error, error);
}

const NAMES = { signal: 0, workerHint: 0, slack: 0 } satisfies Record<keyof BoundedWaitOptions, 0>;

/** See {@link Scheduler.timeout}. @internal */
export async function boundedWait<T>(
  scheduler: WaitTimers,
  work: BoundedWork<T>,
  delay: number,
  options: BoundedWaitOptions = {},
): Promise<T> {
  refuseUnknown(options, NAMES);
  const { signal, workerHint = nextHint(), slack } = options;
  if (typeof work !== 'function' && typeof work?.then !== 'function') {
    throw new InvalidArgumentError('work', 'must be a promise or a function', work);
  }
  const controller = typeof work === 'function' ? new AbortController() : undefined;
  let id: number | undefined;
  let aborted: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      if (typeof work !== 'function') work.then(resolve, reject); // first, so that a rejection is handled
      requireDelay(delay);
      if (signal?.aborted) throw new AbortError(signal.reason);
      const giveUp = (error: Error, reason: unknown): void => {
        reject(error);
        controller?.abort(reason);
      };
      const starts = slack === undefined ? scheduler : scheduler.withSlack(slack);
      id = starts.scheduleAfter(workerHint, delay, expire, { delay, giveUp, [HANDED_BACK]: handBack });
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
    if (id !== undefined && scheduler.size > 0) scheduler.cancel(id); // a closed scheduler has no timer to cancel
    if (signal !== undefined && aborted !== undefined) unwatch(signal, aborted);
  }
}
