import type { Job, JobJson, Worker } from 'bullmq';
import { clearTimeout, setTimeout } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import { type JobData, readableData } from './job-data.ts';

/** ms that a worker leaves to the others, to be the last: more than they need to wake. */
const WAKE_MS = 150;
/** Most s of sleep: a wall clock that is set takes its timers along after so long. */
const MAX_SLEEP_S = 1;
/**
 * ms from the end of a sleep to the first nudge; each further one is twice as far from it, as Redis may have begun the
 * sleep later.
 */
const FIRST_NUDGE_MS = 2;
/** ms after which Redis has looked by itself. */
const REDIS_INTERVAL_MS = 100;

export interface QueueWorker extends Worker<JobData> {
  /** When the timer that this worker has put back is due again, in ms of the wall clock. */
  putBack: number;
  /** Jobs that it has. */
  busy: number;
  /** Sends Redis a command. */
  nudge: () => void;
  /** The last sleep is over. */
  stopNudging(): void;
}

/**
 * The class of the worker: BullMQ's, but for its sleeps. A worker sleeps in Redis until the next timer is due.
 *
 * - Redis looks for sleeps that are over where a command has come, else every 100 ms. So the worker sends it one.
 * - All workers of a queue sleep until the same next timer, and one that knows no handler for it may be the first each
 *   time: the timer would wait for a tie to end otherwise. So the worker that has put a timer back sleeps longer than
 *   the others.
 */
export function queueWorker(
  bullmq: typeof import('bullmq'),
): new (
  ...parts: ConstructorParameters<typeof Worker<JobData>>
) => QueueWorker {
  return class extends bullmq.Worker<JobData> {
    putBack = 0;
    busy = 0;
    nudge: () => void = () => undefined;
    private nudging: NodeJS.Timeout | undefined;

    stopNudging(): void {
      clearTimeout(this.nudging);
    }

    /** A job whose data are damaged is handed over as well: else it would be taken, and dropped, again and again. */
    protected override createJob(json: JobJson, id: string): Job<JobData> {
      return super.createJob({ ...json, data: readableData(json.data, id) }, id);
    }

    /** s of sleep until the next timer. */
    protected override getBlockTimeout(until: number): number {
      this.stopNudging();
      const seconds = Math.min(MAX_SLEEP_S, super.getBlockTimeout(until));
      if (!(until > 0 && seconds > 0)) return seconds;
      const sleep = until === this.putBack ? seconds + WAKE_MS / 1000 : seconds;
      this.nudgeAt(performanceNow() + sleep * 1000, FIRST_NUDGE_MS);
      return sleep;
    }

    private nudgeAt(end: number, after: number): void {
      if (after > REDIS_INTERVAL_MS) return;
      const nudge = (): void => {
        this.nudge();
        this.nudgeAt(end, after * 2);
      };
      this.nudging = setTimeout(nudge, Math.max(1, end + after - performanceNow()));
    }
  };
}
