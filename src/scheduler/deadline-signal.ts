import { requireDelay } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { WorkerHint } from '../client/placement.ts';
import { TimeoutError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { TimerId } from '../timer-id.ts';
import { nextHint } from './bounded-wait.ts';
import { withSlack } from './slack-timers.ts';

/** An AbortSignal that aborts at a deadline, with a TimeoutError. Disposing it cancels its timer; then it never aborts. */
export type DeadlineSignal = AbortSignal & Disposable;

export interface DeadlineSignalOptions {
  /** Places the timer. Default: the shards in turn. */
  workerHint?: WorkerHint;
  /** How much later the signal may abort, in ms. Default: the scheduler's slack. */
  slack?: number;
}

/** The timer of a deadline signal. Like the timers of AbortSignal.timeout, it does not keep the process alive. */
class DeadlineTimer {
  readonly controller = new AbortController();
  private readonly client: Client;
  private readonly delay: number;
  private readonly id: TimerId;

  constructor(client: Client, hint: WorkerHint, delay: number) {
    this.client = client;
    this.delay = delay;
    this.id = client.start(hint, client.clock.exact() + delay, expire, this);
    client.hold.adjustUnref(1);
  }

  expire(): void {
    this.client.hold.adjustUnref(-1);
    this.controller.abort(new TimeoutError(this.delay));
  }

  readonly cancel = (): void => {
    if (!this.client.isClosed && this.client.cancel(this.id)) this.client.hold.adjustUnref(-1);
  };
}

const expire = (timer: DeadlineTimer): void => timer.expire();

const NAMES = { workerHint: 0, slack: 0 } satisfies Record<keyof DeadlineSignalOptions, 0>;

/** See {@link Scheduler.signalAfter}. @internal */
export function deadlineSignal(client: Client, delay: number, options: DeadlineSignalOptions = {}): DeadlineSignal {
  requireDelay(delay);
  refuseUnknown(options, NAMES);
  const { workerHint = nextHint(), slack } = options;
  const timer = withSlack(client, slack, () => new DeadlineTimer(client, workerHint, delay));
  return Object.defineProperty(timer.controller.signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
