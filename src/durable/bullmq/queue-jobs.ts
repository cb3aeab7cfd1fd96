import type { Queue } from 'bullmq';
import { setImmediate } from '../../time/native-timers.ts';
import { dueTime, type StoredTimer } from '../stored-timer.ts';
import { bullmqError } from './bullmq-errors.ts';
import { type JobData, jobDataOf, newJobId, timerId, timerOf } from './job-data.ts';
import type { RedisConnection } from './queue-options.ts';
import { cancel } from './scripts/cancel.ts';
import { type Look, look } from './scripts/look.ts';
import { move } from './scripts/move.ts';
import { supersede } from './scripts/supersede.ts';

/** What BullMQ does with a job by itself: attempts are ours, so only where the worker itself has failed. */
const JOB_OPTIONS = {
  attempts: 1e9,
  backoff: { type: 'fixed', delay: 1000 },
  removeOnComplete: true,
  removeOnFail: false,
};

/**
 * The jobs of timers: one per timer, found by its deduplication id; and one that comes after it, if the timer was scheduled while a
 * worker had its job. BullMQ adds, replaces, and completes jobs; what it has no call for is done by scripts of our own.
 */
export class QueueJobs {
  /** Jobs added, changed or removed. */
  writes = 0;
  readonly client: RedisConnection;
  /** What the keys of the queue begin with. */
  readonly prefix: string;
  private readonly queue: Queue<JobData>;

  constructor(queue: Queue<JobData>, client: RedisConnection) {
    this.queue = queue;
    this.client = client;
    this.prefix = queue.toKey('');
  }

  async put(timer: StoredTimer): Promise<void> {
    const { name } = timer;
    const id = timerId(name, timer.key);
    const data = jobDataOf(timer);
    for (;;) {
      const jobId = newJobId(id);
      const timestamp = Date.now();
      const delay = Math.max(0, Math.ceil(timer.due - timestamp));
      this.writes += 1;
      const deduplication = { id, replace: true };
      const { id: placed } = await this.queue.add(name, data, {
        ...JOB_OPTIONS,
        jobId,
        timestamp,
        delay,
        deduplication,
      });
      if (placed === jobId) return;
      if (await supersede(this.client, this.prefix, id, { name, data: JSON.stringify(data), id: jobId })) return;
    }
  }

  async find(name: string, key: string): Promise<StoredTimer | undefined> {
    return scheduledOf(name, await look(this.client, this.prefix, timerId(name, key)));
  }

  async move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = timerId(name, key);
    const due = dueTime(deadline);
    for (;;) {
      const found = await look(this.client, this.prefix, id);
      const timer = scheduledOf(name, found);
      if (timer === undefined) return false;
      const before = (found.next ?? found.data) as string;
      const after = JSON.stringify(jobDataOf({ ...timer, deadline, due, attempts: 0 }));
      this.writes += 1;
      if (await move(this.client, this.prefix, id, { before, after, due })) return true;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async remove(name: string, key: string): Promise<boolean> {
    const isCancelled = await cancel(this.client, this.prefix, timerId(name, key));
    if (isCancelled) this.writes += 1;
    return isCancelled;
  }
}

/** What is scheduled of what Redis has. */
export function scheduledOf(name: string, { data, state, attempts, next }: Look): StoredTimer | undefined {
  if (next !== null) return timerOf(name, JSON.parse(next) as JobData, 0);
  return data === null || state !== null ? undefined : timerOf(name, JSON.parse(data) as JobData, attempts);
}

/** Keys asked for in one command. */
const MAX_KEYS = 500;

interface Question {
  readonly key: string;
  readonly resolve: (isThere: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** Looks whether keys exist: one command for all that are asked for in one turn of the event loop, instead of one for each. */
export class KeyLookup {
  private readonly client: RedisConnection;
  private readonly queue: string;
  private asked: Question[] = [];

  /** `queue`: its name, for errors. */
  constructor(client: RedisConnection, queue: string) {
    this.client = client;
    this.queue = queue;
  }

  /** Rejects with DurableStoreError. */
  has(key: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setImmediate(() => this.ask());
      this.asked.push({ key, resolve, reject });
    });
  }

  private ask(): void {
    const all = this.asked;
    this.asked = [];
    for (let at = 0; at < all.length; at += MAX_KEYS) void this.answer(all.slice(at, at + MAX_KEYS));
  }

  private async answer(questions: readonly Question[]): Promise<void> {
    try {
      const values = await this.client.mget(questions.map(({ key }) => key));
      for (const [at, { resolve }] of questions.entries()) resolve(values[at] !== null);
    } catch (error) {
      for (const { reject } of questions) reject(bullmqError(this.queue, error));
    }
  }
}
