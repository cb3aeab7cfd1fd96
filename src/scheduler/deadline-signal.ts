import type { Client } from '../client/client.ts';
import type { WorkerHint } from '../client/placement.ts';
import type { TimerId } from '../timer-id.ts';

/** An AbortSignal with a deadline; disposing it cancels its timer, which then never aborts it. */
export type DeadlineSignal = AbortSignal & Disposable;

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
export function deadlineSignal(client: Client, hint: WorkerHint, deadline: number): DeadlineSignal {
  const timer = new DeadlineTimer(client, hint, deadline);
  return Object.defineProperty(timer.controller.signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
