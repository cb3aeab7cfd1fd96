import type { Job } from 'bullmq';
import type { Redis } from 'ioredis';
import { clearInterval, setInterval } from '../../time/native-timers.ts';
import type { Delivery } from '../delivery.ts';
import type { DurableHost } from '../durable-host.ts';
import type { JobData } from './job-data.ts';
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

    /** s of sleep until the next timer. */
    protected override getBlockTimeout(until: number): number {
      const seconds = Math.min(MOST_SLEEP, super.getBlockTimeout(until));
      return until > 0 && until === this.putBack && seconds > 0 ? seconds + WAY / 1000 : seconds;
    }
  };
}

/** ms after which a timer whose name is not handled here is offered again: at first, growing by a fifth each time, and at most. */
const ELSEWHERE = 50;
const MOST_ELSEWHERE = 10_000;

/** Hands to the delivery what BullMQ's worker takes. The worker starts with the first name that is served. */
export class QueueDeliveries {
  private readonly bullmq: typeof import('bullmq');
  private readonly link: QueueLink;
  private readonly host: DurableHost;
  private readonly delivery: Delivery;
  private readonly served = new Set<string>();
  /** What this worker has, by jobs. */
  private readonly takes = new Map<string, QueueTake>();
  private readonly connections: RedisConnection[] = [];
  private worker: InstanceType<ReturnType<typeof givingWay>> | undefined;
  private renewal: NodeJS.Timeout | undefined;
  private closing: Promise<void> | undefined;

  constructor(bullmq: typeof import('bullmq'), link: QueueLink, host: DurableHost, delivery: Delivery) {
    this.bullmq = bullmq;
    this.link = link;
    this.host = host;
    this.delivery = delivery;
  }

  serve(name: string): void {
    this.served.add(name);
    this.worker ??= this.start();
  }

  /** Takes no further job. */
  stop(): void {
    this.closing ??= this.worker?.close();
  }

  /** Resolves when the worker has ended. */
  async close(): Promise<void> {
    await this.closing;
    clearInterval(this.renewal);
    await this.connections[0]?.quit().catch(() => undefined); // Redis has closed it, or is out of reach
  }

  /** Closes what is open still, for good: a worker that ends connects once more, and a silent Redis would hold the process by that. */
  release(): void {
    clearInterval(this.renewal);
    for (const connection of this.connections) {
      connection.connect = () => Promise.reject(new Error('Connection is closed.'));
      connection.disconnect();
    }
  }

  private start(): NonNullable<QueueDeliveries['worker']> {
    const { client, queue, stalledAfter } = this.link;
    // A worker's connection waits for Redis without end: BullMQ demands it.
    const own = client.duplicate({ maxRetriesPerRequest: null });
    const duplicate = own.duplicate.bind(own);
    own.duplicate = (...options) => {
      const another = duplicate(...options);
      this.connections.push(another);
      return another;
    };
    this.connections.push(own);
    own.on('error', this.failed);
    const worker = new (givingWay(this.bullmq))(queue, (job, token) => this.process(job, token as string), {
      connection: own as unknown as Redis,
      concurrency: this.host.settings.concurrency,
      // A worker that ends may take with it the knowledge of when the next timer is due; the others look after this many s.
      drainDelay: 1,
      runRetryDelay: 1000, // ms; a process that ends waits for it
      lockDuration: stalledAfter,
      skipLockRenewal: true, // it goes by the wall clock, which may be set
      stalledInterval: stalledAfter / 2,
      maxStalledCount: 1e9, // attempts are counted beside the job
    });
    worker.on('error', this.failed);
    this.renewal = setInterval(() => this.renew(), stalledAfter / 4); // a slow Redis has three quarters of the time to answer
    return worker;
  }

  /** That a lock is lost is told when its attempt ends, if it is by then. */
  private renew(): void {
    const tokens = Array.from(this.takes.values(), ({ token }) => token);
    this.worker?.extendJobLocks([...this.takes.keys()], tokens, this.link.stalledAfter).catch(this.failed);
  }

  private readonly failed = (error: Error): void => this.host.failed(this.link.named(error));

  /** Resolves to complete the job; rejects with DelayedError to leave it as it is. */
  private async process(job: Job<JobData>, token: string): Promise<void> {
    const { DelayedError } = this.bullmq;
    const id = job.id as string;
    const before = this.takes.get(id);
    // One that has let the job go knows nothing of this lock: the retry may be due before it is released.
    const isNew = before === undefined || before.end === 'leave';
    const take = isNew ? new QueueTake(job, token, this.link, this.host) : before;
    take.token = token;
    if (!this.served.has(job.name)) {
      const elsewhere = Math.min(MOST_ELSEWHERE, ELSEWHERE * 1.2 ** job.attemptsStarted);
      const until = Math.ceil(Math.max(job.data.due, Date.now() + elsewhere));
      await take.delay(until);
      if (this.worker !== undefined) this.worker.putBack = until;
      throw new DelayedError();
    }
    if (isNew) {
      this.takes.set(id, take);
      this.delivery.push(take);
    }
    await take.over;
    if (take.token !== token) throw new DelayedError(); // the lock that came last ends the job
    if (this.takes.get(id) === take) this.takes.delete(id);
    if (take.end === 'unclaimed') await take.delay(Date.now());
    if (take.end === 'leave') throw new DelayedError();
  }
}
