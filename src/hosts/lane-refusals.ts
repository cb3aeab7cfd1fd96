import { ENDLESS, RestartPolicy, sleep } from './restart-policy.ts';

/** A thread that has no memory for the lanes more often than this in a row is not asked again. */
const MAX_REFUSALS = 3;

/** How often in a row a thread has had no memory for a client's lanes. */
export class LaneRefusals {
  private readonly policy = new RestartPolicy(ENDLESS);
  private count = 0;

  get areTooMany(): boolean {
    return this.count > MAX_REFUSALS;
  }

  /** Counts one; resolves when they may be offered again. */
  pause(): Promise<void> {
    this.count += 1;
    return sleep(Math.max(1, this.policy.pauseAfterDeath()));
  }

  /** The thread has taken them. */
  end(): void {
    this.count = 0;
  }
}
