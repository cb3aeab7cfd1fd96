import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { DurableStoreError, DurableTimersClosedError } from '../durable-error.ts';
import type { StoreStats } from '../durable-stats.ts';
import type { DurableStore, StoreHost } from '../durable-store.ts';
import { Patience } from '../patience.ts';
import type { DeadTimer, StoredTimer } from '../stored-timer.ts';
import { Limiter } from '../work-order.ts';
import { bullmqError } from './bullmq-errors.ts';
import { DeadLetters } from './dead-letters.ts';
import { type JobData, timerId } from './job-data.ts';
import { QueueDeliveries } from './queue-deliveries.ts';
import { KeyLookup, QueueJobs } from './queue-jobs.ts';
import type { QueueOptions } from './queue-options.ts';
import { QueueScan } from './queue-scan.ts';

type Bullmq = typeof import('bullmq');

interface Opened {
  readonly queue: Queue<JobData>;
  readonly jobs: QueueJobs;
  readonly scan: QueueScan;
  readonly lookup: KeyLookup;
  readonly deadLetters: DeadLetters;
  readonly deliveries: QueueDeliveries;
}

/** The version of the jobs' data. */
const SCHEMA = '2';
/** Most writes that Redis has not answered: further ones wait here for their turn. */
const MOST_PENDING = 10_000;

/**
 * A DurableStore on a queue of BullMQ. A timer is a delayed job; BullMQ promotes it, gives it to one worker of any machine, and
 * takes it from a worker that has died.
 */
export class QueueStore implements DurableStore {
  readonly kind = 'bullmq';
  private readonly options: QueueOptions;
  private readonly load: () => Bullmq;
  private readonly patience: Patience;
  private readonly pending = new Limiter(MOST_PENDING);
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
      const jobs = new QueueJobs(queue, connection);
      const scan = new QueueScan(jobs, (work) => this.call(work));
      const deadLetters = new DeadLetters(connection, jobs.prefix);
      this.opened = { queue, jobs, scan, lookup: new KeyLookup(connection, name), deadLetters, deliveries };
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
    return this.write((jobs) => jobs.put(timer));
  }

  move(name: string, key: string, deadline: number): Promise<boolean> {
    return this.write((jobs) => jobs.move(name, key, deadline));
  }

  has(name: string, key: string): Promise<boolean> {
    const { queue, lookup } = this.parts;
    return lookup.has(queue.toKey(`de:${timerId(name, key)}`)); // the key that BullMQ's getDeduplicationJobId reads
  }

  remove(name: string, key: string): Promise<boolean> {
    return this.write((jobs) => jobs.remove(name, key));
  }

  get(name: string, key: string): Promise<StoredTimer | undefined> {
    return this.call(() => this.parts.jobs.find(name, key));
  }

  async count(name: string | undefined): Promise<number> {
    const { scan } = this.parts;
    let count = 0;
    if (name === undefined) {
      const { delayed, waiting, prioritized } = await this.call(() => this.counts());
      return delayed + waiting + prioritized + (await scan.countHeld());
    }
    for await (const _ of scan.timers(name, '')) count += 1;
    return count;
  }

  timers(name: string, prefix: string): AsyncIterable<StoredTimer> {
    return this.parts.scan.timers(name, prefix);
  }

  dead(name: string): AsyncIterable<DeadTimer> {
    return this.parts.deadLetters.of(name, (work) => this.call(work));
  }

  bury(dead: DeadTimer): Promise<void> {
    this.parts.jobs.writes += 1;
    return this.certain(this.parts.deadLetters.add(dead));
  }

  removeDead(name: string, key: string): Promise<boolean> {
    this.parts.jobs.writes += 1;
    return this.call(() => this.parts.deadLetters.remove(name, key));
  }

  async stats(): Promise<StoreStats> {
    const { deadLetters, jobs } = this.parts;
    const counts = this.call(() => this.counts());
    const dead = await this.call(() => deadLetters.count());
    const { delayed, waiting, active, prioritized } = await counts;
    const overdue = waiting + prioritized;
    return {
      kind: this.kind,
      stored: delayed + overdue + active,
      overdue,
      active,
      dead,
      near: 0,
      writes: jobs.writes,
    };
  }

  async stop(): Promise<void> {
    this.opened?.deliveries.stop();
  }

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    const { queue, deliveries } = this.opened;
    this.opened = undefined;
    try {
      await this.call(async () => {
        await deliveries.close();
        await queue.close();
      });
    } finally {
      deliveries.release();
      this.isOpening = false;
    }
  }

  private get parts(): Opened {
    if (this.opened === undefined) throw new DurableTimersClosedError();
    return this.opened;
  }

  private write<T>(work: (jobs: QueueJobs) => Promise<T>): Promise<T> {
    return this.certain(this.pending.run(() => work(this.parts.jobs)));
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

  private async counts(): Promise<Record<'delayed' | 'waiting' | 'active' | 'prioritized', number>> {
    const counts = await this.parts.queue.getJobCounts('delayed', 'waiting', 'active', 'prioritized');
    return counts as Record<'delayed' | 'waiting' | 'active' | 'prioritized', number>;
  }
}
