import { requireDelay } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { WorkerHint } from '../client/placement.ts';
import type { TimerId } from '../timer-id.ts';
import { nextHint } from './bounded-wait.ts';
import { withSlack } from './slack-timers.ts';

/** An AbortSignal with a deadline; disposing it cancels its timer, which then never aborts it. */
export type DeadlineSignal = AbortSignal & Disposable;

export interface DeadlineSignalOptions {
  /** Places the timer. By default one shard after the other. */
  workerHint?: WorkerHint;
  /** How much later it may abort, ms. Default: the scheduler's slack. */
  slack?: number;
}

/** The timer of a deadline signal. As those of AbortSignal.timeout, it does not keep the process alive. */
class DeadlineTimer {
  readonly controller = new AbortController();
  private readonly client: Client;
  private readonly id: TimerId;

  constructor(client: Client, hint: WorkerHint, deadline: number) {
    this.client = client;
    this.id = client.start(hint, deadline, expire, this);
    client.hold.adjustUnref(1);
  }

  expire(): void {
    this.client.hold.adjustUnref(-1);
    this.controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }

  readonly cancel = (): void => {
    if (!this.client.isClosed && this.client.cancel(this.id)) this.client.hold.adjustUnref(-1);
  };
}

const expire = (timer: DeadlineTimer): void => timer.expire();

/** See {@link Scheduler.signalAfter}. */
export function deadlineSignal(
  client: Client,
  delay: number,
  { workerHint = nextHint(), slack }: DeadlineSignalOptions = {},
): DeadlineSignal {
  requireDelay(delay);
  const deadline = client.clock.exact() + delay;
  const timer = withSlack(client, slack, () => new DeadlineTimer(client, workerHint, deadline));
  return Object.defineProperty(timer.controller.signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
