import type { Worker } from 'bullmq';
import type { JobData } from './job-data.ts';

/** ms that a worker leaves to the others: more than the 100 ms in which Redis ends their sleeps, in an order of its own. */
const WAY = 150;
/** Most s of sleep: a wall clock that is set takes its timers along after so long. */
const MOST_SLEEP = 1;

/** A worker that comes last to a timer which it has put back. */
export interface GivingWay extends Worker<JobData> {
  /** The timer that this worker has put back is due again at `until`, in ms of the wall clock. */
  giveWay(until: number): void;
}

/**
 * A class of such workers. All workers of a queue sleep until the same next timer, and one that knows no handler for it
 * may be the first each time: the timer would wait for a tie to end otherwise.
 */
export function givingWay(
  bullmq: typeof import('bullmq'),
): new (
  ...args: ConstructorParameters<typeof Worker<JobData>>
) => GivingWay {
  return class extends bullmq.Worker<JobData> {
    private putBack = 0;

    giveWay(until: number): void {
      this.putBack = until;
    }

    /** s of sleep until the next timer. */
    protected override getBlockTimeout(until: number): number {
      const seconds = Math.min(MOST_SLEEP, super.getBlockTimeout(until));
      return until > 0 && until === this.putBack && seconds > 0 ? seconds + WAY / 1000 : seconds;
    }
  };
}
