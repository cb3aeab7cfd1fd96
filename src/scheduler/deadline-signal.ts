import type { TimerId } from '../timer-id.ts';
import type { Client } from './client.ts';
import type { WorkerHint } from './placement.ts';
import type { TimerBook } from './timer-book.ts';

/** An AbortSignal with a deadline; disposing it cancels its timer, which then never aborts it. */
export type DeadlineSignal = AbortSignal & Disposable;

/** The timer of a deadline signal. As those of AbortSignal.timeout, it does not hold the process. */
class DeadlineTimer {
  readonly controller = new AbortController();
  private readonly client: Client;
  private readonly book: TimerBook;
  private readonly id: TimerId;

  constructor(client: Client, book: TimerBook, hint: WorkerHint, deadline: number) {
    this.client = client;
    this.book = book;
    this.id = book.start(hint, deadline, expire, this);
    client.loosen(1);
  }

  expire(): void {
    this.client.loosen(-1);
    this.controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }

  readonly cancel = (): void => {
    if (!this.client.isClosed && this.book.cancel(this.id)) this.client.loosen(-1);
  };
}

const expire = (timer: DeadlineTimer): void => timer.expire();

/** See {@link Scheduler.signalAfter}. */
export function deadlineSignal(client: Client, book: TimerBook, hint: WorkerHint, deadline: number): DeadlineSignal {
  const timer = new DeadlineTimer(client, book, hint, deadline);
  return Object.defineProperty(timer.controller.signal, Symbol.dispose, { value: timer.cancel }) as DeadlineSignal;
}
