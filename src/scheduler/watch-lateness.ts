import { type LateTurn, watchFor } from '../client/late-timers.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { Scheduler } from './scheduler.ts';
import { hear } from './scheduler-events.ts';

/** The timers that one turn of the event loop delivered later than a threshold: the message of `shardwheel:late`. */
export interface LateTimersMessage extends LateTurn {
  scheduler: Scheduler;
}

/**
 * Watches for timers of this thread's schedulers that are delivered more than `threshold` ms after their deadlines.
 * Each turn that delivers such timers publishes one message per scheduler on the diagnostics channel `shardwheel:late`,
 * with their number and the first 16 of them. The listener gets the messages of its own threshold, after the turn's
 * callbacks. There may be several watches with different thresholds; without one the cost is a comparison per timer. If
 * a listener throws, Node makes that an uncaught exception; it disturbs no timer. Returns a function that ends the
 * watch.
 * @throws InvalidArgumentError.
 */
export function watchLateness(threshold: number, listener?: (late: LateTimersMessage) => void): () => void {
  if (typeof threshold !== 'number' || !(threshold >= 0) || threshold === Number.POSITIVE_INFINITY) {
    throw new InvalidArgumentError('threshold', 'must be a finite number of ms, at least 0', threshold);
  }
  if (listener !== undefined && typeof listener !== 'function') {
    throw new InvalidArgumentError('listener', 'must be a function', listener);
  }
  const unheard =
    listener &&
    hear('late', (message) => {
      if (message.threshold === threshold) listener(message as LateTimersMessage);
    });
  const unwatched = watchFor(threshold);
  return () => {
    unheard?.();
    unwatched();
  };
}
