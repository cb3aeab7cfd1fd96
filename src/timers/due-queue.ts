import { outsideContexts, runInContext } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { soon } from '../scheduler/soon.ts';
import type { Timeout } from './timeout.ts';
import type { TimeoutSource } from './timeout-source.ts';

/** Timeouts that were delivered in one turn, and of which none has run yet when the last of them comes in. */
class DueBatch {
  readonly timeouts: Timeout[] = [];
  /** How many have had their turn. */
  done = 0;
  private isInOrder = true;

  /** The one that stands last in Node's order, while none has been taken. */
  last: Timeout | undefined;
  /** The last tick of which a timeout has come in that was moved: others of it may stand before that one. */
  private movedTick = Number.NEGATIVE_INFINITY;

  add(timeout: Timeout): void {
    if (this.last === undefined || timeout.compare(this.last) >= 0) this.last = timeout;
    else this.isInOrder = false;
    if (timeout.isMoved) this.movedTick = Math.max(this.movedTick, timeout.tick);
    this.timeouts.push(timeout);
  }

  /** Whether what is still to be delivered may belong before what is here. */
  isOpenEnded(): boolean {
    return this.movedTick === this.last?.tick;
  }

  take(): Timeout {
    if (!this.isInOrder) this.timeouts.sort((one, other) => one.compare(other));
    this.isInOrder = true;
    const timeout = this.timeouts[this.done];
    this.done += 1;
    return timeout;
  }
}

export type { DueBatch };

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
  private readonly source: TimeoutSource;
  private batch: DueBatch | undefined;

  constructor(source: TimeoutSource) {
    this.source = source;
  }

  /** A timeout has been delivered; its callback runs in one of the next immediates, unless it leaves the batch before. */
  add(timeout: Timeout): DueBatch {
    this.batch ??= new DueBatch();
    this.addTo(this.batch, timeout);
    return this.batch;
  }

  /**
   * The immediate is set in the timeout's context: what the callback throws surfaces there. Precondition: this call is
   * outside of all contexts.
   */
  private addTo(batch: DueBatch, timeout: Timeout): void {
    batch.add(timeout);
    this.source.client.settling.entrust();
    runInContext(timeout.context, soon, this.runNext, batch, timeout.context);
  }

  /** `context`: that of the immediate which calls. Where the batch had to be sorted, another timeout's turn may have come. */
  private readonly runNext = (batch: DueBatch, context: Context): void => {
    if (batch === this.batch) {
      if (batch.isOpenEnded() && this.source.hasMore()) {
        soon(this.runNext, batch, context); // after the client's next turn
        return;
      }
      outsideContexts(() => this.begin(batch));
    }
    const timeout = batch.take();
    this.source.client.settling.discharge();
    timeout.runIn(batch, context);
  };

  /** What is delivered from here on makes another batch. */
  private begin(batch: DueBatch): void {
    this.batch = undefined;
    for (const timeout of this.source.inFlight.before(batch.last as Timeout)) {
      timeout.pull(batch);
      this.addTo(batch, timeout);
    }
  }
}
