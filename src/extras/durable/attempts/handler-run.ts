import { outsideContexts } from '../../../async-context/async-context.ts';
import { clearTimeout, setTimeout } from '../../../time/native-timers.ts';
import { AttemptEndedError, type AttemptEnding } from '../durable-error.ts';
import type { DeliveryInfo, DurableHandler } from '../durable-timer.ts';
import { decodePayload } from '../payload-codec.ts';
import type { StoredTimer } from '../stored-timer.ts';

/** A handler, and what was asked for its name. */
export interface Handling {
  readonly handler: DurableHandler<unknown>;
  /** Most handlers of the name that run at a time. */
  readonly concurrency: number;
  /** ms, after which an attempt has failed. */
  readonly timeout: number | undefined;
}

/** How a handler has ended. */
export type Outcome =
  | { readonly kind: 'resolved' }
  | { readonly kind: 'failed'; readonly thrown: unknown }
  | { readonly kind: 'interrupted' };

/**
 * A handler that runs. It ends when it settles, at its timeout, or when `close` waits no longer. Whatever else ends the
 * attempt (a cancel, a newer timer, a lost lease) it hears of by its signal; the key is its own until it settles.
 */
export class HandlerRun {
  readonly outcome: Promise<Outcome>;
  private settle: (outcome: Outcome) => void = () => undefined;
  private readonly timer: StoredTimer;
  private readonly limit: NodeJS.Timeout | undefined;
  /** Made when the handler asks for its signal. */
  private controller: AbortController | undefined;
  private reason: AttemptEndedError | undefined;
  private isSettled = false;

  constructor({ handler, timeout }: Handling, timer: StoredTimer) {
    this.timer = timer;
    this.outcome = new Promise((resolve) => {
      this.settle = (outcome) => {
        this.isSettled = true;
        clearTimeout(this.limit);
        resolve(outcome);
      };
    });
    if (timeout !== undefined) this.limit = setTimeout(() => this.end('timeout'), timeout);
    outsideContexts(async () => handler(decodePayload(timer.payload), this.infoFor(timer))).then(
      () => this.settle({ kind: 'resolved' }),
      (thrown: unknown) => this.settle({ kind: 'failed', thrown }),
    );
  }

  /** Aborts the handler's signal: the first reason counts. */
  end(how: AttemptEnding): void {
    if (this.isSettled) return;
    this.reason ??= new AttemptEndedError(how, this.timer);
    if (how === 'timeout') this.settle({ kind: 'failed', thrown: this.reason });
    if (how === 'closed') this.settle({ kind: 'interrupted' });
    outsideContexts(() => this.controller?.abort(this.reason)); // last: a listener may throw, or call back
  }

  private infoFor({ name, key, deadline, attempts: attempt }: StoredTimer): DeliveryInfo {
    const signal = (): AbortSignal => this.signal;
    return {
      name,
      key,
      deadline,
      attempt,
      get signal() {
        return signal();
      },
    };
  }

  private get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.reason !== undefined) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }
}
