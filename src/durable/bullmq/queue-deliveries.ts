import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Delivery } from '../delivery.ts';
import type { DurableHost } from '../durable-host.ts';
import type { JobData } from './job-data.ts';
import { QueueLeases } from './queue-leases.ts';
import type { QueueLink, RedisConnection } from './queue-link.ts';
import { QueueTake } from './queue-take.ts';

/** ms that a worker leaves to the others: more than the 100 ms in which Redis ends their sleeps, in an order of its own. */
const WAY = 150;
/** Most s of sleep: a wall clock that is set takes its timers along after so long. */
const MOST_SLEEP = 1;

/**
 * A class of workers that come last to a timer which they have put back. All workers of a queue sleep until the same next timer, and one
 * that knows no handler for it may be the first each time: the timer would wait for a tie to end otherwise.
 */
function givingWay(bullmq: typeof import('bullmq')) {
  return class extends bullmq.Worker<JobData> {
    /** When the timer that this worker has put back is due again, in ms of the wall clock. */
    putBack = 0;
    /** Jobs that it has. */
    busy = 0;

    /** s of sleep until the next timer. */
    protected override getBlockTimeout(until: number): number {
      const seconds = Math.min(MOST_SLEEP, super.getBlockTimeout(until));
      return until > 0 && until === this.putBack && seconds > 0 ? seconds + WAY / 1000 : seconds;
    }
  };
}

type QueueWorker = InstanceType<ReturnType<typeof givingWay>>;

/** ms after which a timer whose name is not handled here is offered again: at first, growing by a fifth each time, and at most. */
const ELSEWHERE = 50;
const MOST_ELSEWHERE = 10_000;

/** ms after which a timer that its name has no slot for is offered again, and between two of a name. */
const UNTIL_OFFER = 50;
const BETWEEN_OFFERS = 1;

/**
 * Hands to the delivery what BullMQ's worker takes. The worker starts with the first name that is served, and takes as many jobs as that may
 * have attempts. With a further name it takes as many more, and one: so what finds the slots of its name taken, and is put back, hides no
 * other name. A worker that has all that it may take does not hear of it until one ends: then another worker takes the difference.
 */
export class QueueDeliveries {
  private readonly bullmq: typeof import('bullmq');
  private readonly link: QueueLink;
  private readonly host: DurableHost;
  private readonly delivery: Delivery;
  private readonly served = new Set<string>();
  private readonly leases: QueueLeases;
  /** When the last timer that was put back for want of a slot is offered again, by names: ms of the wall clock. */
  private readonly offered = new Map<string, number>();
  /** The client of the workers, then what each has made of it. */
  private readonly connections: RedisConnection[] = [];
  private readonly workers: QueueWorker[] = [];
  private closing: Promise<void> | undefined;

  constructor(bullmq: typeof import('bullmq'), link: QueueLink, host: DurableHost, delivery: Delivery) {
    this.bullmq = bullmq;
    this.link = link;
    this.host = host;
    this.delivery = delivery;
    this.leases = new QueueLeases(link, this.failed);
  }

  serve(name: string): void {
    this.served.add(name);
    const more = this.host.concurrencyOf(name) + (this.served.size === 2 ? 1 : 0);
    const worker = this.workers.find(({ busy, concurrency }) => busy < concurrency);
    if (worker === undefined) this.start(more);
    else worker.concurrency += more;
  }

  /** Takes no further job. */
  stop(): void {
    this.closing ??= Promise.all(this.workers.map((worker) => worker.close())).then(() => undefined);
  }

  /** Resolves when the worker has ended. */
  async close(): Promise<void> {
    await this.closing;
    this.leases.stop();
    await this.connections[0]?.quit().catch(() => undefined); // Redis has closed it, or is out of reach
  }

  /** Closes what is open still, for good: a worker that ends connects once more, and a silent Redis would hold the process by that. */
  release(): void {
    this.leases.stop();
    for (const connection of this.connections) {
      connection.connect = () => Promise.reject(new Error('Connection is closed.'));
      connection.disconnect();
    }
  }

  private start(concurrency: number): void {
    const { queue, stalledAfter } = this.link;
    const take = async (job: Job<JobData>, token = ''): Promise<void> => {
      worker.busy += 1;
      await this.process(job, token, worker).finally(() => {
        worker.busy -= 1;
      });
    };
    const worker: QueueWorker = new (givingWay(this.bullmq))(queue, take, {
      connection: this.connection as unknown as Redis,
      concurrency,
      // A worker that ends may take with it the knowledge of when the next timer is due; the others look after this many s.
      drainDelay: 1,
      runRetryDelay: 1000, // ms; a process that ends waits for it
      lockDuration: stalledAfter,
      skipLockRenewal: true, // it goes by the wall clock, which may be set
      stalledInterval: stalledAfter / 2,
      maxStalledCount: 1e9, // attempts are counted beside the job
    });
    worker.on('error', this.failed);
    if (this.workers.length === 0) this.leases.start(worker);
    this.workers.push(worker);
  }

  /** The client that workers send by, and duplicate to wait with. */
  private get connection(): RedisConnection {
    if (this.connections.length > 0) return this.connections[0];
    // A worker's connection waits for Redis without end: BullMQ demands it.
    const own = this.link.client.duplicate({ maxRetriesPerRequest: null });
    const duplicate = own.duplicate.bind(own);
    own.duplicate = (...options) => {
      const another = duplicate(...options);
      this.connections.push(another);
      return another;
    };
    this.connections.push(own);
    own.on('error', this.failed);
    return own;
  }

  private readonly failed = (error: Error): void => this.host.failed(this.link.named(error));

  /** Resolves to complete the job; rejects with DelayedError to leave it as it is. */
  private async process(job: Job<JobData>, token: string, worker: QueueWorker): Promise<void> {
    const { DelayedError } = this.bullmq;
    const id = job.id as string;
    const before = this.leases.get(id);
    // One that has let the job go knows nothing of this lock: the retry may be due before it is released.
    const isNew = before === undefined || before.end === 'leave';
    const take = isNew ? new QueueTake(job, token, this.link, this.host, this.delivery) : before;
    take.token = token;
    if (!this.served.has(job.name)) {
      const elsewhere = Math.min(MOST_ELSEWHERE, ELSEWHERE * 1.2 ** job.attemptsStarted);
      const until = Math.ceil(Math.max(job.data.due, Date.now() + elsewhere));
      await take.delay(until);
      worker.putBack = until;
      throw new DelayedError();
    }
    if (isNew && this.served.size > 1 && !this.delivery.mayBegin(job.name)) {
      await take.delay(this.nextOffer(job.name));
      throw new DelayedError();
    }
    if (isNew) {
      this.leases.add(id, take);
      this.delivery.push(take);
    }
    await take.over;
    if (take.token !== token) throw new DelayedError(); // the lock that came last ends the job
    this.leases.remove(id, take);
    if (take.end === 'unclaimed') await take.delay(Date.now());
    if (take.end === 'leave') throw new DelayedError();
  }

  /** When a timer that its name has no slot for is offered again. One after the other, so that Redis has little to do with many. */
  private nextOffer(name: string): number {
    const last = this.offered.get(name) ?? 0;
    const next = Math.max(last + BETWEEN_OFFERS, Date.now() + UNTIL_OFFER);
    this.offered.set(name, next);
    return next;
  }
}
