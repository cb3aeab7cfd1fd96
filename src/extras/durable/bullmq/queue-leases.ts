import { clearInterval, setInterval } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import type { QueueLink } from './queue-link.ts';
import type { QueueTake } from './queue-take.ts';
import { overtaken } from './scripts/overtaken.ts';

/** What renews locks: BullMQ's worker. Resolves with the jobs whose locks are another's, or nobody's. */
interface Renewer {
  extendJobLocks(jobs: string[], tokens: string[], duration: number): Promise<string[]>;
}

/**
 * The jobs that a worker has. Their locks are renewed, at a quarter of the time for which they hold: a slow Redis has
 * three quarters to answer. By then the handlers hear whose timers were cancelled or scheduled anew by other processes,
 * and whose locks are lost: also because Redis has not answered for as long as they hold.
 */
export class QueueLeases {
  private readonly link: QueueLink;
  private readonly failed: (error: Error) => void;
  /** By jobs. */
  private readonly takes = new Map<string, QueueTake>();
  private renewal: NodeJS.Timeout | undefined;

  constructor(link: QueueLink, failed: (error: Error) => void) {
    this.link = link;
    this.failed = failed;
  }

  get(job: string): QueueTake | undefined {
    return this.takes.get(job);
  }

  add(job: string, take: QueueTake): void {
    this.takes.set(job, take);
  }

  /** The worker has given the job away, unless it has it anew. */
  remove(job: string, take: QueueTake): void {
    if (this.takes.get(job) === take) this.takes.delete(job);
  }

  start(by: Renewer): void {
    const renew = (): void => void this.renew(by).catch(this.failed);
    this.renewal = setInterval(renew, this.link.place.stalledAfter / 4);
  }

  stop(): void {
    clearInterval(this.renewal);
  }

  private async renew(by: Renewer): Promise<void> {
    const { stalledAfter } = this.link.place;
    const now = performanceNow();
    const all = Array.from(this.takes, ([job, take]) => ({ job, take, token: take.token }));
    for (const { take } of all) {
      if (take.lockedUntil <= now) take.tell('lost');
    }
    const looked = this.look(all.map(({ take }) => take));
    looked.catch(() => undefined); // it is awaited below, unless the renewal fails before
    const tokens = all.map(({ token }) => token);
    const lost = new Set(await by.extendJobLocks([...this.takes.keys()], tokens, stalledAfter));
    for (const { job, take, token } of all) {
      if (take.token !== token) continue; // the worker has been given the job again
      if (lost.has(job)) take.tell('lost');
      else take.lockedUntil = now + stalledAfter;
    }
    await looked;
  }

  private async look(takes: readonly QueueTake[]): Promise<void> {
    const begun = takes.filter(({ hasBegun }) => hasBegun);
    const found = await overtaken(
      this.link,
      begun.map(({ jobAndNext }) => jobAndNext),
    );
    for (const [at, how] of found.entries()) {
      if (how !== '') begun[at].tell(how);
    }
  }
}
