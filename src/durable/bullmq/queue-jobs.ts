import type { Job, Queue } from 'bullmq';
import { setTimeout } from '../../time/native-timers.ts';
import { dueTime } from '../due-time.ts';
import type { StoredTimer, StoreHost } from '../durable-store.ts';
import { type JobData, jobDataOf } from './job-data.ts';
import { newJobId, timerId } from './job-ids.ts';
import type { RedisConnection } from './queue-options.ts';

/**
 * Removes the job of a timer unless a worker has it. Returns 1 if it did. BullMQ's own call says the same of a job that it has removed
 * and of one that was delivered just before.
 *
 *     KEYS  the timer's deduplication key, that of what follows its active job, the jobs that are delayed, have a priority, wait, and
 *           wait in a queue that is paused
 *     ARGV  what the keys of jobs begin with
 */
const REMOVE_FREE = `
local job = redis.call('GET', KEYS[1])
if not job then return 0 end
if redis.call('ZREM', KEYS[3], job) + redis.call('ZREM', KEYS[4], job) == 0
  and redis.call('LREM', KEYS[5], 1, job) == 0 and redis.call('LREM', KEYS[6], 1, job) == 0 then return 0 end
redis.call('DEL', ARGV[1] .. job, KEYS[1], KEYS[2])
return 1`;

/** ms between two looks at a job that is just being taken. */
const STATE_CHECK_MS = 20;

/** BullMQ's codes of errors. */
const NO_JOB = -1;
const NOT_DELAYED = -3;

/**
 * The jobs of timers: one per timer, found by its deduplication id. What BullMQ has no call for is made of several calls, each of them
 * atomic, in an order that loses no confirmed timer wherever it is cut off:
 *
 * - To move a timer: a new job with the same deduplication id, which replaces the one that is delayed, or follows the one that is
 *   active, in one script. One that is due and waits for a worker is given the new data; the worker delays it again.
 * - To cancel one: it is removed, in a script of our own, unless a worker has it.
 */
export class QueueJobs {
  /** Jobs added, changed or removed. */
  writes = 0;
  private readonly bullmq: typeof import('bullmq');
  private readonly queue: Queue<JobData>;
  private readonly client: RedisConnection;
  private readonly host: StoreHost;

  constructor(bullmq: typeof import('bullmq'), queue: Queue<JobData>, client: RedisConnection, host: StoreHost) {
    this.bullmq = bullmq;
    this.queue = queue;
    this.client = client;
    this.host = host;
  }

  async find(timer: string): Promise<Job<JobData> | undefined> {
    const { queue } = this;
    const jobId = await queue.getDeduplicationJobId(timer);
    return jobId === null ? undefined : ((await queue.getJob(jobId)) as Job<JobData> | undefined);
  }

  async place(timer: StoredTimer): Promise<void> {
    const { queue, bullmq, host } = this;
    const id = timerId(timer.name, timer.key);
    const data = jobDataOf(timer);
    for (;;) {
      const jobId = newJobId(id);
      const now = Date.now();
      this.writes += 1;
      const { id: placed } = await queue.add(timer.name, data, {
        jobId,
        timestamp: now,
        delay: Math.max(0, Math.ceil(timer.due - now)),
        attempts: Math.max(1, host.retry.attempts - timer.attempts),
        backoff: { type: 'custom' },
        deduplication: { id, replace: true, keepLastIfActive: true },
        removeOnComplete: true,
        removeOnFail: false,
      });
      if (placed === jobId || (await this.followsActive(id, jobId))) return;
      // The one that is there waits for a worker. A job's data are read when it is taken.
      const waiting = new bullmq.Job<JobData>(queue, timer.name, data, {}, placed);
      if (!(await this.update(waiting, data))) continue;
      const state = await waiting.getState();
      if (state === 'waiting' || state === 'delayed' || state === 'prioritized') return;
      await this.finalState(waiting); // it has been taken, with the data before or after
    }
  }

  /** Resolves with false if there is none, or its delivery has begun. */
  async move(timer: string, deadline: number): Promise<boolean> {
    const due = dueTime(deadline);
    for (;;) {
      const job = await this.find(timer);
      if (job === undefined) return false;
      const data = { ...job.data, deadline, due, attempts: 0 };
      this.writes += 1;
      try {
        const delay = (): Promise<void> => job.changeDelay(Math.max(0, Math.ceil(due - Date.now())));
        // In each order the data are never due after the job: who takes it in between delivers it, and does not delay it again.
        if (due < job.data.due) {
          await job.updateData(data);
          await delay();
        } else {
          await delay();
          await job.updateData(data);
        }
        return true;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code === NO_JOB) continue;
        if (code !== NOT_DELAYED) throw error;
      }
      const outcome = await this.moveWaiting(job, data);
      if (outcome !== undefined) return outcome;
    }
  }

  /** Moves a job that is due and waits for a worker. Undefined if it is in another state by now. */
  private async moveWaiting(job: Job<JobData>, data: JobData): Promise<boolean | undefined> {
    const before = await job.getState();
    if (before === 'active') return false;
    if (before !== 'waiting' && before !== 'prioritized') return undefined;
    if (!(await this.update(job, data))) return undefined;
    const after = await job.getState();
    if (after === 'waiting' || after === 'delayed' || after === 'prioritized') return true;
    await this.finalState(job); // it has been taken, with the data before or after
    return undefined;
  }

  /** Gives a job other data. Resolves with false if it has ended. */
  private async update(job: Job<JobData>, data: JobData): Promise<boolean> {
    try {
      await job.updateData(data);
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === NO_JOB) return false;
      throw error;
    }
  }

  /** Whether the job is stored as what comes after the active one. */
  private async followsActive(timer: string, jobId: string): Promise<boolean> {
    const { queue } = this;
    const { client } = this;
    if ((await client.hget(queue.toKey(`dn:${timer}`), 'jid')) === jobId) return true;
    return (await client.exists(queue.toKey(jobId))) === 1; // the active one has ended since
  }

  /** Resolves with false if there is none, or its delivery has begun. */
  async withdraw(timer: string): Promise<boolean> {
    const { queue, client } = this;
    const keys = [`de:${timer}`, `dn:${timer}`, 'delayed', 'prioritized', 'wait', 'paused'].map((key) =>
      queue.toKey(key),
    );
    const isRemoved = (await client.eval(REMOVE_FREE, keys.length, ...keys, queue.toKey(''))) === 1;
    if (isRemoved) this.writes += 1;
    return isRemoved;
  }

  /** Resolves with the state of a job when no worker has it. */
  private async finalState(job: Job<JobData>): Promise<string> {
    for (;;) {
      const state = await job.getState();
      if (state !== 'active') return state;
      await new Promise((resolve) => setTimeout(resolve, STATE_CHECK_MS));
    }
  }
}
