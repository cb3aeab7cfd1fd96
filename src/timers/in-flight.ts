import type { Timeout } from './timeout.ts';
import type { TimeoutSource } from './timeout-source.ts';

/** Length at which those that need not be watched are dropped for the first time. */
const FIRST_SWEEP = 256;

/**
 * Timeouts whose shard may not know of them in time. What is set goes to the shard when the event loop next comes round;
 * where the loop is busy past its due tick, the shard delivers later timeouts before it. Node would not: so when a batch
 * comes in, those that it has overtaken are added to it from here.
 *
 * A timeout is watched from the call that sets it until it has been published more than a tick before it is due. Sweeps
 * drop the others, each time when as many have been added as the last sweep has kept: O(1) per call.
 */
export class InFlight {
  private readonly source: TimeoutSource;
  private watched: Timeout[] = [];
  private sweepAt = FIRST_SWEEP;

  constructor(source: TimeoutSource) {
    this.source = source;
  }

  /** A timeout has been scheduled. */
  add(timeout: Timeout): void {
    this.watched.push(timeout);
    if (this.watched.length >= this.sweepAt) this.sweep();
  }

  /** The waiting timeouts that stand before the given one in Node's order, and may have been overtaken by it. */
  before(last: Timeout): Timeout[] {
    if (this.watched.length === 0) return this.watched;
    this.sweep();
    return this.watched.filter((timeout) => timeout.compare(last) < 0);
  }

  private sweep(): void {
    const { source } = this;
    const near = source.scale.tickAtOrBefore(source.now()) + 1;
    this.watched = this.watched.filter(
      (timeout) => timeout.isWaiting && (timeout.tick <= near || !source.isPublished(timeout.turn)),
    );
    this.sweepAt = Math.max(FIRST_SWEEP, this.watched.length * 2);
  }
}
