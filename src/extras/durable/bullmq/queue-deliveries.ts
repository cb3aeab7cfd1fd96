import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import type { JobData } from './job-data.ts';
import { jobTime } from './job-time.ts';
import { QueueLeases } from './queue-leases.ts';
import type { QueueLink } from './queue-link.ts';
import { QueueTake } from './queue-take.ts';
import { type QueueWorker, queueWorker } from './queue-worker.ts';
import type { RedisClient } from './redis-connection.ts';

/**
 * ms after which a timer whose name is not handled here is offered again: at first, growing by a fifth each time, and
 * at most.
 */
const FIRST_PUT_BACK_MS = 50;
const MAX_PUT_BACK_MS = 10_000;

/** ms after which a timer that its name has no free handler for is offered again, and between two of a name. */
const UNTIL_OFFER_MS = 50;
const BETWEEN_OFFERS_MS = 1;

/**
 * Hands to `Attempts` what BullMQ's worker takes. The worker starts with the first name that is delivered, and takes as
 * many jobs as that may have attempts. With a further name it takes as many more, and one: so what finds the handlers
 * of its name taken, and is put back, hides no other name. A worker that has all that it may take does not hear of it
 * until one ends: then another worker takes the difference.
 */
export class QueueDeliveries {
  private readonly bullmq: typeof import('bullmq');
  private readonly link: QueueLink;
  private readonly core: DurableCore;
  private readonly attempts: Attempts;
  private readonly skipVersionCheck: boolean;
  private readonly delivered = new Set<string>();
  private readonly leases: QueueLeases;
  /** When the last timer that was put back for want of a handler is offered again, by names: ms of the wall clock. */
  private readonly offered = new Map<string, number>();
  /** By which the workers send; each waits by one of its own. */
  private client: RedisClient | undefined;
  private readonly workers: QueueWorker[] = [];
  private closing: Promise<void> | undefined;

  /** `skipVersionCheck`: BullMQ would fail, as Redis denies what it asks. */
  constructor(
    bullmq: typeof import('bullmq'),
    link: QueueLink,
    core: DurableCore,
    attempts: Attempts,
    skipVersionCheck: boolean,
  ) {
    this.bullmq = bullmq;
    this.link = link;
    this.core = core;
    this.attempts = attempts;
    this.leases = new QueueLeases(link, this.failed);
    this.skipVersionCheck = skipVersionCheck;
  }

  deliver(name: string): void {
    this.delivered.add(name);
    const more = this.core.concurrencyOf(name) + (this.delivered.size === 2 ? 1 : 0);
    const worker = this.workers.find(({ busy, concurrency }) => busy < concurrency);
    if (worker === undefined) this.start(more);
    else worker.concurrency += more;
  }

  /** Takes no further job. */
  stop(): void {
    this.closing ??= Promise.all(this.workers.map((worker) => worker.close())).then(() => undefined);
  }

  /** Resolves when the workers have ended. */
  async close(): Promise<void> {
    await this.closing;
    this.release();
    await this.client?.quit().catch(() => undefined); // Redis has closed it, or is out of reach
  }

  /** Sets no timer any more. */
  release(): void {
    this.leases.stop();
    for (const worker of this.workers) worker.stopNudging();
  }

  private start(concurrency: number): void {
    const { queue, prefix, stalledAfter } = this.link.place;
    this.client ??= this.link.connections.make(this.failed);
    const { client } = this;
    const take = async (job: Job<JobData>, token = ''): Promise<void> => {
      worker.busy += 1;
      await this.process(job, token, worker).finally(() => {
        worker.busy -= 1;
      });
    };
    const worker: QueueWorker = new (queueWorker(this.bullmq))(queue, take, {
      connection: client as unknown as Redis,
      prefix,
      skipVersionCheck: this.skipVersionCheck,
      concurrency,
      // A worker that ends may take with it the knowledge of when the next timer is due; the others look after this
      // many s.
      drainDelay: 1,
      runRetryDelay: 1000, // ms; a process that ends waits for it
      lockDuration: stalledAfter,
      skipLockRenewal: true, // it goes by the wall clock, which may be set
      stalledInterval: stalledAfter / 2,
      maxStalledCount: 1e9, // attempts are counted beside the job
    });
    worker.on('error', this.failed);
    worker.nudge = () => void client.ping().catch(() => undefined); // the client tells of its failures itself
    if (this.workers.length === 0) this.leases.start(worker);
    this.workers.push(worker);
  }

  private readonly failed = (error: Error): void => this.core.failed(this.link.named(error));

  /** Resolves to complete the job; rejects with DelayedError to leave it as it is. */
  private async process(job: Job<JobData>, token: string, worker: QueueWorker): Promise<void> {
    const { DelayedError } = this.bullmq;
    const id = job.id as string;
    const before = this.leases.get(id);
    // One that has let the job go knows nothing of this lock: the retry may be due before it is released.
    const isNew = before === undefined || before.end === 'leave';
    const take = isNew ? new QueueTake(job, token, this.link, this.core, this.attempts) : before;
    take.token = token;
    take.completeOnce(job);
    if (!this.delivered.has(job.name)) {
      const elsewhere = Math.min(MAX_PUT_BACK_MS, FIRST_PUT_BACK_MS * 1.2 ** job.attemptsStarted);
      const until = Math.ceil(Math.max(jobTime(this.link.clock, job.data.due), Date.now() + elsewhere));
      await take.putBack(until);
      if (take.end === 'complete') return;
      worker.putBack = until;
      throw new DelayedError();
    }
    if (job.data.damaged !== undefined) {
      await take.bury(job.data.damaged);
      if (take.end === 'leave') throw new DelayedError();
      return;
    }
    if (isNew && this.delivered.size > 1 && !this.attempts.mayBegin(job.name)) {
      await take.putBack(this.nextOffer(job.name));
      if (take.end === 'complete') return;
      throw new DelayedError();
    }
    if (isNew) {
      this.leases.add(id, take);
      this.attempts.push(take);
    }
    await take.over;
    if (take.token !== token) throw new DelayedError(); // the lock that came last ends the job
    this.leases.remove(id, take);
    if (take.end === 'unclaimed') await take.delay(Date.now());
    if (take.end === 'leave') throw new DelayedError();
  }

  /**
   * When a timer that its name has no free handler for is offered again. One after the other, so that Redis has little
   * to do with many.
   */
  private nextOffer(name: string): number {
    const last = this.offered.get(name) ?? 0;
    const next = Math.max(last + BETWEEN_OFFERS_MS, Date.now() + UNTIL_OFFER_MS);
    this.offered.set(name, next);
    return next;
  }
}
