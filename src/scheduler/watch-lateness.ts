import { type LateTurn, watchFor } from '../client/late-timers.ts';
import { InvalidArgumentError } from '../errors.ts';
import { hear } from './diagnostics.ts';
import type { Scheduler } from './scheduler.ts';

/** Timers that one turn of the event loop has delivered later than a threshold: the message of `shardwheel:late`. */
export interface LateTimersMessage extends LateTurn {
  scheduler: Scheduler;
}

/**
 * Watches for timers of this thread's schedulers that come more than `threshold` ms after their deadlines. Each turn that delivers
 * such, of each scheduler, is one message on the diagnostics channel `shardwheel:late`, with the first 16 of them and how many there
 * were; the listener is given those of its own threshold, after the turn's callbacks. Several can watch, each for a threshold of its own;
 * while nobody does it costs one comparison per timer. What a listener throws is an uncaught exception, as
 * `node:diagnostics_channel` has it, and disturbs no timer. Returns what ends the watch. Throws InvalidArgumentError.
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
