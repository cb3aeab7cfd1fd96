import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { DurableStoreError } from '../durable-error.ts';
import type { DeadTimer, DurableStore, StoredTimer, StoreHost, StoreStats } from '../durable-store.ts';
import { Patience } from '../patience.ts';
import { bullmqError } from './bullmq-errors.ts';
import { type JobData, jobDataOf, timerOf } from './job-data.ts';
import { newJobId, timerId } from './job-ids.ts';
import { KeyLookup } from './key-lookup.ts';
import { QueueDeliveries } from './queue-deliveries.ts';
import { QueueJobs } from './queue-jobs.ts';
import type { QueueOptions } from './queue-options.ts';
import { QueueScan } from './queue-scan.ts';

type Bullmq = typeof import('bullmq');

interface Opened {
  readonly host: StoreHost;
  readonly queue: Queue<JobData>;
  readonly jobs: QueueJobs;
  readonly scan: QueueScan;
  readonly lookup: KeyLookup;
  readonly deliveries: QueueDeliveries;
}

/** The version of the jobs' data. */
const SCHEMA = '1';
/** Jobs read in one go. */
const PAGE = 200;

/**
 * A DurableStore on a queue of BullMQ. A timer is a delayed job; BullMQ promotes it, gives it to one worker of any machine, repeats
 * it after a failure, and takes it from a worker that has died.
 */
export class QueueStore implements DurableStore {
  readonly kind = 'bullmq';
  private readonly options: QueueOptions;
  private readonly load: () => Bullmq;
  private readonly patience: Patience;
  private opened: Opened | undefined;
  private isOpening = false;

  constructor(options: QueueOptions, load: () => Bullmq) {
    this.options = options;
    this.load = load;
    const { queue, timeout } = options;
    const message = `The queue ${queue} has not answered in ${timeout} ms`;
    this.patience = new Patience(timeout, () => new DurableStoreError('ERR_STORE_UNREACHABLE', message));
  }

  async open(host: StoreHost): Promise<void> {
    if (this.isOpening) throw DurableStoreError.inUse('bullmq');
    this.isOpening = true;
    const { connection, queue: name } = this.options;
    try {
      const bullmq = this.load();
      await this.call(() => connection.ping());
      const queue = new bullmq.Queue<JobData>(name, { connection: connection as unknown as Redis });
      queue.on('error', (error) => host.failed(bullmqError(name, error)));
      const deliveries = new QueueDeliveries(bullmq, queue, this.options, host);
      const jobs = new QueueJobs(bullmq, queue, connection, host);
      const scan = new QueueScan(queue, connection, (work) => this.call(work));
      this.opened = { host, queue, jobs, scan, lookup: new KeyLookup(connection, name), deliveries };
      await this.call(() => this.checkSchema());
    } catch (error) {
      await this.opened?.queue.close();
      this.opened = undefined;
      this.isOpening = false;
      throw bullmqError(name, error);
    }
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return this.patience.bounded(work);
  }

  serve(name: string): void {
    this.parts.deliveries.serve(name);
  }

  put(timer: StoredTimer): Promise<void> {
    return this.certain(this.parts.jobs.place(timer));
  }

  move(name: string, key: string, deadline: number): Promise<boolean> {
    return this.certain(this.parts.jobs.move(timerId(name, key), deadline));
  }

  has(name: string, key: string): Promise<boolean> {
    const { queue, lookup } = this.parts;
    return lookup.has(queue.toKey(`de:${timerId(name, key)}`)); // the key that BullMQ's getDeduplicationJobId reads
  }

  remove(name: string, key: string): Promise<boolean> {
    return this.certain(this.parts.jobs.withdraw(timerId(name, key)));
  }

  get(name: string, key: string): Promise<StoredTimer | undefined> {
    return this.call(async () => {
      const job = await this.parts.jobs.find(timerId(name, key));
      return job === undefined ? undefined : timerOf(name, job.data, attemptsOf(job));
    });
  }

  async count(name: string | undefined): Promise<number> {
    if (name === undefined) {
      const { delayed, waiting, active, prioritized } = await this.call(() => this.counts());
      return delayed + waiting + active + prioritized;
    }
    let count = 0;
    for await (const ids of this.parts.scan.timers(name, '')) count += ids.length;
    return count;
  }

  async *timers(name: string, prefix: string): AsyncGenerator<StoredTimer> {
    for await (const ids of this.parts.scan.timers(name, prefix)) {
      const jobs = await this.call(() => Promise.all(ids.map((id) => this.parts.queue.getJob(id))));
      for (const job of jobs) if (job !== undefined) yield timerOf(name, job.data, attemptsOf(job));
    }
  }

  async *dead(name: string): AsyncGenerator<DeadTimer> {
    for (let start = 0; ; start += PAGE) {
      const jobs = await this.call(() => this.parts.queue.getFailed(start, start + PAGE - 1));
      for (const job of jobs) {
        const { failedReason: reason, finishedOn: diedAt = 0, data } = job;
        if (job.name !== name) continue;
        yield { ...timerOf(name, data, attemptsOf(job)), diedAt, reason };
      }
      if (jobs.length < PAGE) return;
    }
  }

  async bury(dead: DeadTimer): Promise<void> {
    const { name, reason } = dead;
    const data = { ...jobDataOf(dead), reason };
    this.parts.jobs.writes += 1;
    const jobId = newJobId(timerId(name, dead.key));
    await this.certain(this.parts.queue.add(name, data, { jobId, removeOnFail: false }));
  }

  async removeDead(name: string, key: string): Promise<boolean> {
    let found = false;
    for await (const dead of this.parts.scan.failed(name, key)) {
      this.parts.jobs.writes += 1;
      await this.call(async () => this.parts.queue.remove(dead));
      found = true;
    }
    return found;
  }

  async stats(): Promise<StoreStats> {
    const { delayed, waiting, active, prioritized, failed } = await this.call(() => this.counts());
    const overdue = waiting + prioritized;
    return {
      kind: this.kind,
      stored: delayed + overdue + active,
      overdue,
      active,
      dead: failed,
      near: 0,
      writes: this.parts.jobs.writes,
    };
  }

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    const { queue, deliveries } = this.opened;
    await deliveries.close();
    await queue.close();
    this.opened = undefined;
    this.isOpening = false;
  }

  private get parts(): Opened {
    return this.opened as Opened;
  }

  /** Without a limit of time: it may take effect at any later time. */
  private async certain<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw bullmqError(this.options.queue, error);
    }
  }

  /** Rejects with DurableStoreError, also if there is no answer in time. */
  private call<T>(work: () => Promise<T>): Promise<T> {
    return this.patience.bounded(this.certain(work()));
  }

  private async checkSchema(): Promise<void> {
    const { queue } = this.parts;
    const { connection: client } = this.options;
    const key = queue.toKey('shardwheel-schema');
    await client.set(key, SCHEMA, 'NX');
    const found = await client.get(key);
    if (found !== SCHEMA) throw DurableStoreError.otherVersion(`the queue ${queue.name}`, found, Number(SCHEMA));
  }

  private async counts(): Promise<Record<'delayed' | 'waiting' | 'active' | 'prioritized' | 'failed', number>> {
    const counts = await this.parts.queue.getJobCounts('delayed', 'waiting', 'active', 'prioritized', 'failed');
    return counts as Record<'delayed' | 'waiting' | 'active' | 'prioritized' | 'failed', number>;
  }
}

/** Attempts that have begun, of which those that a dead process began are known only by the count of stalls. */
const attemptsOf = ({ attemptsMade, stalledCounter }: Job<JobData>): number => attemptsMade + stalledCounter;
