import type { TickScale } from '../time/tick-scale.ts';
import { compareInNodesOrder, type QueuedTimeout } from './due-batch.ts';

/** What is asked of the face's source. */
export interface InFlightHost {
  readonly scale: TickScale;
  /** ms */
  now(): number;
  /** Whether what was scheduled in the given turn of the client has gone to the shard. */
  isPublished(turn: number): boolean;
}

/** Length at which those that need not be watched are dropped for the first time. */
const FIRST_SWEEP = 256;

/**
 * Timeouts whose shard may not know of them in time. What is set goes to the shard when the event loop next comes round;
 * where the loop is busy past its due tick, the shard delivers later timeouts before it. Node would not: so when a batch
 * comes in, those that it has overtaken are added to it from here.
 *
 * A timeout is watched from the call that sets it until it waits no longer, or has been published more than a tick before
 * it is due. `watched[timeout.watchedAt]` is the timeout itself, so leaving costs O(1). The published are dropped by
 * sweeps, each time when as many have been added as the last sweep has kept: O(1) per call. So nothing is held here that
 * the scheduler does not hold.
 */
export class InFlight {
  private readonly source: InFlightHost;
  private readonly watched: QueuedTimeout[] = [];
  private sweepAt = FIRST_SWEEP;

  constructor(source: InFlightHost) {
    this.source = source;
  }

  /** A timeout has been scheduled. */
  add(timeout: QueuedTimeout): void {
    timeout.watchedAt = this.watched.length;
    this.watched.push(timeout);
    if (this.watched.length >= this.sweepAt) this.sweep();
  }

  /** A timeout waits no longer. */
  remove(timeout: QueuedTimeout): void {
    const { watchedAt } = timeout;
    if (watchedAt < 0) return;
    timeout.watchedAt = -1;
    const last = this.watched.pop() as QueuedTimeout;
    if (last === timeout) return;
    this.watched[watchedAt] = last;
    last.watchedAt = watchedAt;
  }

  /** The waiting timeouts that stand before the given one in Node's order, and may have been overtaken by it. */
  before(last: QueuedTimeout): QueuedTimeout[] {
    if (this.watched.length === 0) return [];
    this.sweep();
    return this.watched.filter((timeout) => compareInNodesOrder(timeout, last) < 0);
  }

  private sweep(): void {
    const { source, watched } = this;
    const near = source.scale.tickAtOrBefore(source.now()) + 1;
    for (let at = watched.length - 1; at >= 0; at--) {
      const timeout = watched[at];
      if (timeout.tick > near && source.isPublished(timeout.turn)) this.remove(timeout);
    }
    this.sweepAt = Math.max(FIRST_SWEEP, watched.length * 2);
  }
}
