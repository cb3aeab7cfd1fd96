import { outsideContexts, runInContext } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { inNextTurn } from '../client/next-turn.ts';
import type { Settling } from '../client/settling.ts';
import { DueBatch, type QueuedTimeout } from './due-batch.ts';
import type { InFlight } from './in-flight.ts';

/** What the queue needs of the face's source. */
export interface DueQueueHost {
  readonly client: { readonly settling: Settling };
  readonly inFlight: InFlight;
  /** Whether the shard has fired timers that the scheduler has not delivered yet. */
  hasMore(): boolean;
}

/**
 * Timeouts on their way from the scheduler's delivery to their callbacks. A scheduler delivers many timers in one go;
 * Node runs `process.nextTick` and microtasks between two timers, and an error that one throws surfaces before the next
 * runs. Only Node itself can do so, and it does between immediates: so each timeout that is delivered gets an immediate.
 *
 * A scheduler does not say where among the timers of its tick one stands that was moved; Node does: where it would if
 * it had been set then. So a batch is put in Node's order, by due tick and by when a timeout was set or refreshed, once
 * its last tick is complete, as far as the scheduler has fired records. And it takes in what it has overtaken: see InFlight.
 */
export class DueQueue {
  private readonly source: DueQueueHost;
  private batch: DueBatch | undefined;

  constructor(source: DueQueueHost) {
    this.source = source;
  }

  /** A timeout has been delivered; its callback runs in one of the next immediates, unless it leaves the batch before. */
  add(timeout: QueuedTimeout): DueBatch {
    this.batch ??= new DueBatch();
    this.addTo(this.batch, timeout);
    return this.batch;
  }

  /**
   * The immediate is set in the timeout's context: what the callback throws surfaces there. Precondition: this call is
   * outside of all contexts.
   */
  private addTo(batch: DueBatch, timeout: QueuedTimeout): void {
    batch.add(timeout);
    this.source.client.settling.callbackDeferred();
    runInContext(timeout.context, inNextTurn, this.runNext, batch, timeout.context);
  }

  /** `context`: that of the immediate which calls. Where the batch had to be sorted, another timeout's turn may have come. */
  private readonly runNext = (batch: DueBatch, context: Context): void => {
    if (batch === this.batch) {
      if (batch.isOpenEnded() && this.source.hasMore()) {
        inNextTurn(this.runNext, batch, context); // after the client's next turn
        return;
      }
      outsideContexts(() => this.begin(batch));
    }
    const timeout = batch.take();
    this.source.client.settling.callbackDone();
    timeout.runIn(batch, context);
  };

  /** What is delivered from here on makes another batch. */
  private begin(batch: DueBatch): void {
    this.batch = undefined;
    for (const timeout of this.source.inFlight.before(batch.last as QueuedTimeout)) {
      timeout.pull(batch);
      this.addTo(batch, timeout);
    }
  }
}
