import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { setImmediate } from '../../../time/native-timers.ts';
import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { Limiter } from '../attempts/work-order.ts';
import { DurableStoreError, DurableTimersClosedError } from '../durable-error.ts';
import type { StoreStats } from '../durable-stats.ts';
import type { DurableStore } from '../durable-store.ts';
import { type Kept, replaces } from '../kept.ts';
import { loadPackage } from '../store-package.ts';
import { type DeadTimer, dueTime, type StoredTimer } from '../stored-timer.ts';
import { refuseEviction } from './eviction.ts';
import { type JobData, jobDataOf, newJobId, timerId } from './job-data.ts';
import { dueScore, jobTime } from './job-time.ts';
import { KeyLookup } from './key-lookup.ts';
import { QueueDeliveries } from './queue-deliveries.ts';
import type { QueueLink } from './queue-link.ts';
import { DEAD, deadText, scanDead, scanTimers } from './queue-scan.ts';
import { checkSchema } from './queue-schema.ts';
import { cancel, move, supersede } from './scripts/changes.ts';
import { countScheduled } from './scripts/count.ts';
import { look, readableOf, scheduledOf } from './scripts/look.ts';
import { overdueNames } from './scripts/overdue.ts';
import { promote } from './scripts/promote.ts';

/** Most writes that Redis has not answered: further ones wait here for their turn. */
const MAX_PENDING_WRITES = 10_000;
/** What BullMQ does with a job by itself: attempts are ours, so only where the worker itself has failed. */
const JOB_OPTIONS = {
  attempts: 1e9,
  backoff: { type: 'fixed', delay: 1000 },
  removeOnComplete: true,
  removeOnFail: false,
};

interface Opened {
  readonly queue: Queue<JobData>;
  readonly deliveries: QueueDeliveries;
  readonly failed: (error: Error) => void;
  /** Of the clock. */
  readonly unfollow: () => void;
}

/**
 * A DurableStore on a queue of BullMQ. A timer is a delayed job; BullMQ promotes it, gives it to one worker of any
 * machine, and takes it from a worker that has died. There is one job per timer, found by its deduplication id; and one
 * that comes after it, if the timer was scheduled while a worker had its job. BullMQ adds, replaces, and completes
 * jobs; what it has no call for is done by scripts of our own.
 */
export class QueueStore implements DurableStore {
  readonly kind = 'bullmq';
  private readonly link: QueueLink;
  private readonly bullmq: typeof import('bullmq') | undefined;
  private readonly lookup: KeyLookup;
  private readonly pending = new Limiter(MAX_PENDING_WRITES);
  private opened: Opened | undefined;
  private isOpening = false;
  /** Jobs added, changed or removed. */
  private writes = 0;

  /** `bullmq`: the module; undefined: it is loaded by its name. */
  constructor(link: QueueLink, bullmq: unknown) {
    this.link = link;
    this.bullmq = bullmq as typeof import('bullmq') | undefined;
    this.lookup = new KeyLookup(link);
  }

  async open(core: DurableCore, attempts: Attempts): Promise<void> {
    if (this.isOpening) throw DurableStoreError.inUse('bullmq');
    this.isOpening = true;
    this.writes = 0;
    const { link } = this;
    let queue: Queue<JobData> | undefined;
    try {
      const bullmq = this.bullmq ?? loadPackage<typeof import('bullmq')>('bullmqStore', 'bullmq');
      link.open(core.clock);
      await link.call(() => link.client.ping());
      const skipVersionCheck = !(await refuseEviction(link));
      const { queue: name, prefix } = link.place;
      queue = new bullmq.Queue<JobData>(name, {
        connection: link.client as unknown as Redis,
        prefix,
        skipVersionCheck,
      });
      queue.on('error', (error) => core.failed(link.named(error)));
      await link.call(() => checkSchema(link));
      await link.call(() => promote(link));
      const unfollow = core.clock.follow(() => void promote(link).catch((error) => core.failed(link.named(error))));
      this.opened = {
        queue,
        deliveries: new QueueDeliveries(bullmq, link, core, attempts, skipVersionCheck),
        failed: core.failed,
        unfollow,
      };
    } catch (error) {
      await queue?.close();
      link.close();
      this.isOpening = false;
      throw link.named(error);
    }
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return this.link.patience.bounded(work);
  }

  deliver(name: string): void {
    this.parts.deliveries.deliver(name);
  }

  put(timer: StoredTimer, kept?: Kept): Promise<boolean> {
    return this.write(async (queue) => {
      return kept === undefined ? this.putAnyway(queue, timer) : this.putUnlessKept(queue, timer, kept);
    });
  }

  move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = timerId(name, key);
    const due = dueTime(deadline);
    return this.write(async () => {
      for (;;) {
        const found = await look(this.link, id);
        const timer = readableOf(name, key, found);
        if (timer === undefined) return false;
        const before = (found.next ?? found.data) as string;
        const after = JSON.stringify(jobDataOf({ ...timer, deadline, due, attempts: 0 }));
        this.writes += 1;
        if (await move(this.link, id, before, after, due)) return true;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  }

  has(name: string, key: string): Promise<boolean> {
    const redisKey = `${this.link.prefix}de:${timerId(name, key)}`; // which BullMQ's getDeduplicationJobId reads
    return this.link.certain(this.lookup.has(redisKey));
  }

  remove(name: string, key: string): Promise<boolean> {
    return this.write(async () => {
      const isCancelled = await cancel(this.link, timerId(name, key));
      if (isCancelled) this.writes += 1;
      return isCancelled;
    });
  }

  async get(name: string, key: string): Promise<StoredTimer | undefined> {
    return readableOf(name, key, await this.link.call(() => look(this.link, timerId(name, key))));
  }

  async count(): Promise<number> {
    return this.link.call(() => countScheduled(this.link));
  }

  timers(name: string, prefix: string): AsyncIterable<StoredTimer> {
    const skipped = (key: string): void => this.parts.failed(DurableStoreError.damaged({ name, key }));
    return scanTimers(this.link, name, prefix, skipped);
  }

  dead(name: string): AsyncIterable<DeadTimer> {
    return scanDead(this.link, name);
  }

  async bury(dead: DeadTimer): Promise<void> {
    this.writes += 1;
    const { client, prefix } = this.link;
    await this.link.certain(client.hset(prefix + DEAD, timerId(dead.name, dead.key), deadText(dead)));
  }

  async removeDead(name: string, key: string): Promise<boolean> {
    this.writes += 1;
    const { client, prefix } = this.link;
    const removed = async (): Promise<boolean> => (await client.hdel(prefix + DEAD, timerId(name, key))) === 1;
    return this.link.call(() => this.link.refusalsKnown(removed));
  }

  async backup(): Promise<void> {
    throw DurableStoreError.noBackup(
      'bullmqStore',
      'copy what Redis writes (BGSAVE, its append-only file), or keep a replica',
    );
  }

  async stats(): Promise<StoreStats> {
    const { client, prefix } = this.link;
    const [counts, dead, notTaken] = await Promise.all([
      this.counts(),
      this.link.call(() => client.hlen(prefix + DEAD)),
      this.link.call(() => client.zcount(`${prefix}delayed`, '-inf', dueScore(this.link.clock))),
    ]);
    const { delayed, waiting, active, prioritized } = counts;
    const overdue = notTaken + waiting + prioritized;
    const stored = delayed + waiting + prioritized + active;
    return { kind: this.kind, stored, overdue, active, dead, near: 0, writes: this.writes };
  }

  overdueNames(before: number): Promise<string[]> {
    return this.link.call(() => overdueNames(this.link, before));
  }

  async stop(): Promise<void> {
    this.opened?.deliveries.stop();
  }

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    const { queue, deliveries, unfollow } = this.opened;
    this.opened = undefined;
    unfollow();
    try {
      await this.link.call(async () => {
        await deliveries.close();
        await queue.close();
        await this.link.quit();
      });
    } finally {
      deliveries.release();
      this.link.close();
      this.isOpening = false;
    }
  }

  private get parts(): Opened {
    if (this.opened === undefined) throw new DurableTimersClosedError();
    return this.opened;
  }

  /** Resolves with whether the work was done. */
  private write(work: (queue: Queue<JobData>) => Promise<boolean>): Promise<boolean> {
    const done = this.pending.run(async () => {
      const isDone = await this.link.refusalsKnown(() => work(this.parts.queue));
      await promote(this.link);
      return isDone;
    });
    return this.link.certain(done);
  }

  private async putAnyway(queue: Queue<JobData>, timer: StoredTimer): Promise<boolean> {
    for (;;) {
      if (await this.add(queue, timer, true)) return true;
      if (await this.supersede(timer, false)) return true;
    }
  }

  /**
   * Whatever other processes do between a look and the write, which is one step of Redis: it is not done then, and
   * looked at again.
   */
  private async putUnlessKept(queue: Queue<JobData>, timer: StoredTimer, kept: Kept): Promise<boolean> {
    const { name, due } = timer;
    const id = timerId(name, timer.key);
    for (;;) {
      const found = await look(this.link, id);
      const scheduled = scheduledOf(name, found);
      if (scheduled === 'damaged') return this.putAnyway(queue, timer);
      if (scheduled !== undefined && !replaces(timer, scheduled, kept)) return false;
      let isDone: boolean;
      if (scheduled !== undefined) {
        this.writes += 1;
        const before = (found.next ?? found.data) as string;
        isDone = await move(this.link, id, before, JSON.stringify(jobDataOf(timer)), due);
      } else {
        isDone = found.data === null ? await this.add(queue, timer, false) : await this.supersede(timer, true);
      }
      if (isDone) return true;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Makes a job; `replace`: in place of one that is delayed. Resolves with false if there is one in its place. */
  private async add(queue: Queue<JobData>, timer: StoredTimer, replace: boolean): Promise<boolean> {
    const { name, key, due } = timer;
    const id = timerId(name, key);
    const jobId = newJobId(id);
    const timestamp = Date.now();
    const delay = Math.max(0, Math.ceil(jobTime(this.link.clock, due) - timestamp));
    this.writes += 1;
    const own = { jobId, timestamp, delay, deduplication: replace ? { id, replace } : { id } };
    const { id: placed } = await queue.add(name, jobDataOf(timer), { ...JOB_OPTIONS, ...own });
    return placed === jobId;
  }

  private supersede(timer: StoredTimer, onlyAttempt: boolean): Promise<boolean> {
    const { name, key } = timer;
    const id = timerId(name, key);
    const job = { name, data: JSON.stringify(jobDataOf(timer)), id: newJobId(id) };
    return supersede(this.link, id, job, onlyAttempt);
  }

  private counts(): Promise<Record<'delayed' | 'waiting' | 'active' | 'prioritized', number>> {
    const states = ['delayed', 'waiting', 'active', 'prioritized'] as const;
    return this.link.call(() => this.parts.queue.getJobCounts(...states)) as ReturnType<QueueStore['counts']>;
  }
}
