import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { StoredTimer, StoreHost } from '../durable-store.ts';
import { pauseAfter } from '../retry-policy.ts';
import { bullmqError } from './bullmq-errors.ts';
import { type GivingWay, givingWay } from './giving-way.ts';
import { type JobData, timerOf } from './job-data.ts';
import { timerId } from './job-ids.ts';
import type { QueueOptions, RedisConnection } from './queue-options.ts';

/** ms after which a timer whose name is not handled here is offered again: at first, growing by a fifth each time, and at most. */
const ELSEWHERE = 50;
const MOST_ELSEWHERE = 10_000;

/** Delivers what BullMQ's worker takes. The worker starts with the first name that is served. */
export class QueueDeliveries {
  private readonly bullmq: typeof import('bullmq');
  private readonly queue: Queue<JobData>;
  private readonly options: QueueOptions;
  private readonly host: StoreHost;
  private readonly served = new Set<string>();
  /** Handlers that run, by their jobs; and the token of the take that will end the job. */
  private readonly running = new Map<string, { token: string | undefined; readonly end: Promise<void> }>();
  private worker: GivingWay | undefined;
  private connection: RedisConnection | undefined;

  constructor(bullmq: typeof import('bullmq'), queue: Queue<JobData>, options: QueueOptions, host: StoreHost) {
    this.bullmq = bullmq;
    this.queue = queue;
    this.options = options;
    this.host = host;
  }

  serve(name: string): void {
    this.served.add(name);
    this.worker ??= this.start();
  }

  async close(): Promise<void> {
    await this.worker?.close();
    await this.connection?.quit().catch(() => undefined); // Redis has closed it, or is out of reach
  }

  private start(): GivingWay {
    const { connection, queue, stalledAfter } = this.options;
    const { retry, concurrency } = this.host;
    // A worker's connection waits for Redis without end: BullMQ demands it.
    this.connection = connection.duplicate({ maxRetriesPerRequest: null });
    this.connection.on('error', (error) => this.host.failed(bullmqError(queue, error)));
    const worker = new (givingWay(this.bullmq))(queue, (job, token) => this.process(job, token), {
      connection: this.connection as unknown as Redis,
      concurrency,
      // A worker that ends may take with it the knowledge of when the next timer is due; the others look after this many s.
      drainDelay: 1,
      lockDuration: stalledAfter,
      lockRenewTime: stalledAfter / 4, // not the default of 1/2: a slow Redis has three quarters of the time to answer
      stalledInterval: stalledAfter / 2,
      maxStalledCount: retry.attempts,
      settings: {
        backoffStrategy: (made, _type, _error, job) =>
          pauseAfter((job === undefined ? 0 : job.data.attempts) + made, retry),
      },
    });
    worker.on('error', (error) => this.host.failed(bullmqError(queue, error)));
    worker.on('failed', (job, error) => this.failed(job, error));
    worker.on('completed', (job) => this.align(job));
    return worker;
  }

  /** Resolves to end the job; rejects to try it again. */
  private async process(job: Job<JobData>, token: string | undefined): Promise<void> {
    const { DelayedError, UnrecoverableError } = this.bullmq;
    const { name, data } = job;
    if (!(await this.holds(job, token))) throw new DelayedError(); // the worker leaves the job as it is
    if (data.reason !== undefined) throw new UnrecoverableError(data.reason);
    const isElsewhere = !this.served.has(name);
    if (isElsewhere || data.due > Date.now()) {
      // The clock of this machine is behind, or the timer has been moved while it waited.
      const pause = Math.min(MOST_ELSEWHERE, ELSEWHERE * 1.2 ** job.attemptsStarted);
      const until = Math.ceil(Math.max(data.due, isElsewhere ? Date.now() + pause : 0));
      await job.moveToDelayed(until, token);
      if (isElsewhere) this.worker?.giveWay(until);
      throw new DelayedError();
    }
    const timer = timerOf(name, data, job.attemptsMade + job.stalledCounter + 1);
    if (timer.attempts > this.host.retry.attempts) {
      throw new UnrecoverableError('The process died during the last attempt');
    }
    try {
      await this.run(job.id as string, token, timer);
    } catch (error) {
      if (error instanceof DelayedError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw timer.attempts >= this.host.retry.attempts ? new UnrecoverableError(message) : error;
    }
  }

  /**
   * Runs the handler, or goes on with the one that runs: this worker may be given a job again whose lock has run out. The take
   * that came last ends the job.
   */
  private async run(id: string, token: string | undefined, timer: StoredTimer): Promise<void> {
    const running = this.running.get(id) ?? { token, end: this.host.run(timer) };
    running.token = token;
    this.running.set(id, running);
    try {
      await running.end;
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: the job is another take's, and so is the handler's error
      if (running.token !== token) throw new this.bullmq.DelayedError();
      this.running.delete(id);
    }
  }

  /**
   * Whether the job is this worker's. One that comes late, for the event loop was blocked or Redis slow, may have been given to
   * another worker: that one delivers it.
   */
  private async holds(job: Job<JobData>, token: string | undefined): Promise<boolean> {
    const { stalledAfter } = this.options;
    const takenAt = job.processedOn ?? 0;
    if (token === undefined || Date.now() - takenAt < stalledAfter / 2) return true;
    return (await job.extendLock(token, stalledAfter)) === 1;
  }

  private failed(job: Job<JobData> | undefined, error: Error): void {
    if (job?.finishedOn === undefined || job.data.reason !== undefined) return;
    const { name, data, finishedOn: diedAt } = job;
    this.host.died({ ...timerOf(name, data, job.attemptsMade + job.stalledCounter), diedAt, reason: error.message });
  }

  /** What was scheduled during a delivery begins its delay when that ends: sets it to the time that it was scheduled for. */
  private align({ name, data: { key } }: Job<JobData>): void {
    const timer = timerId(name, key);
    const align = async (): Promise<void> => {
      // Again, if it has been moved meanwhile: it would keep the time that it had.
      for (let set: number | undefined; ; ) {
        const jobId = await this.queue.getDeduplicationJobId(timer);
        const next = jobId === null ? undefined : await this.queue.getJob(jobId);
        if (next === undefined || next.data.due === set || next.timestamp + next.delay <= next.data.due + 1) return;
        set = next.data.due;
        await next.changeDelay(Math.max(0, Math.ceil(set - Date.now())));
      }
    };
    align().catch(() => undefined); // it has been taken already, or is delivered late
  }
}
