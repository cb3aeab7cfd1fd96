import type { Timeout } from './timeout.ts';
import type { TimeoutSource } from './timeout-source.ts';

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
  private readonly source: TimeoutSource;
  private readonly watched: Timeout[] = [];
  private sweepAt = FIRST_SWEEP;

  constructor(source: TimeoutSource) {
    this.source = source;
  }

  /** A timeout has been scheduled. */
  add(timeout: Timeout): void {
    timeout.watchedAt = this.watched.length;
    this.watched.push(timeout);
    if (this.watched.length >= this.sweepAt) this.sweep();
  }

  /** A timeout waits no longer. */
  remove(timeout: Timeout): void {
    const { watchedAt } = timeout;
    if (watchedAt < 0) return;
    timeout.watchedAt = -1;
    const last = this.watched.pop() as Timeout;
    if (last === timeout) return;
    this.watched[watchedAt] = last;
    last.watchedAt = watchedAt;
  }

  /** The waiting timeouts that stand before the given one in Node's order, and may have been overtaken by it. */
  before(last: Timeout): Timeout[] {
    if (this.watched.length === 0) return [];
    this.sweep();
    return this.watched.filter((timeout) => timeout.compare(last) < 0);
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
