import type { Client } from '../client/client.ts';
import { CANCELLED, type Cancelled } from '../client/hand-back.ts';
import { TimeoutError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { TimerId } from '../timer-id.ts';
import { unwatch, watch } from './abort-watch.ts';
import { RENAMED_WAIT_OPTIONS } from './renamed.ts';
import { expectWaits } from './timer-group.ts';
import { labelOf } from './timer-label.ts';
import type { TimerView } from './timer-view.ts';
import { nextHint, WAIT_OPTIONS, type WaitOptions } from './waits.ts';

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

const expire = (timer: DeadlineTimer): void => timer.expire();

/** See {@link Scheduler.signalAfter}. `plain`: the calls without a label. @internal */
export function deadlineSignal(
  client: Client,
  plain: TimerView,
  delay: number,
  options: WaitOptions = {},
): DeadlineSignal {
  refuseUnknown(options, WAIT_OPTIONS, 'options', RENAMED_WAIT_OPTIONS);
  const { workerHint = nextHint(), label, signal: outer } = options;
  const starts = label === undefined ? plain : labelOf(label, client);
  const timer = new DeadlineTimer(client, new TimeoutError(delay, label?.name), outer);
  const { signal } = timer.controller;
  expectWaits(workerHint);
  if (outer?.aborted) timer.controller.abort(outer.reason);
  else timer.begin(starts.scheduleAfter(workerHint, delay, expire, timer));
  return Object.defineProperty(signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
