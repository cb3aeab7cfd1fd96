import type { Job } from 'bullmq';
import { performanceNow } from '../../../unfaked.ts';
import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { DurableStoreError } from '../durable-error.ts';
import {
  type Claim,
  type DueTimer,
  damagedTimer,
  type Ending,
  type Overtaken,
  type StoredTimer,
} from '../stored-timer.ts';
import { type JobData, jobDataOf, newJobId, readData, timerId, timerOf } from './job-data.ts';
import { jobTime } from './job-time.ts';
import type { QueueLink } from './queue-link.ts';
import { DEAD, deadText } from './queue-scan.ts';
import { claim, writeEnding } from './scripts/attempts.ts';
import { type Look, look } from './scripts/look.ts';
import { promote } from './scripts/promote.ts';

/** Whether BullMQ has not found the job. */
const isGone = (error: unknown): boolean => error instanceof Error && error.message.startsWith('Missing key for job');

/** Whether a job was cancelled, or another comes after it. */
const isOver = ({ state, next }: Look): boolean => state === 'ended' || next !== null;

/**
 * A job that a worker has taken. Before an attempt begins, and when one has failed, Redis is asked whether the job
 * still counts: it may have been cancelled, scheduled anew, or given to another worker.
 */
export class QueueTake implements DueTimer {
  /** The newest lock's: this worker may be given the job again while it has it. */
  token: string;
  /**
   * What the worker is to do with the job, when `Attempts` has released it: it is unclaimed where that was closed.
   */
  end: 'unclaimed' | 'complete' | 'leave' = 'unclaimed';
  released: () => void = () => undefined;
  /** Resolves when `Attempts` has released it. */
  readonly over = new Promise<void>((resolve) => {
    this.released = resolve;
  });
  /** How long its lock holds unless it is renewed, ms of the monotonic clock. */
  lockedUntil = Number.POSITIVE_INFINITY;
  /** Whether an attempt has begun. */
  hasBegun = false;
  /** By which Redis knows a claim that is sent again. */
  private readonly claimId = newJobId('');
  /** When it is due, as far as this worker knows: ms since 1970. */
  private due: number;
  /** What has ended its attempt, as far as Redis has said. */
  private overtaken: Overtaken | undefined;
  private readonly job: Job<JobData>;
  private readonly link: QueueLink;
  private readonly core: DurableCore;
  private readonly attempts: Attempts;

  constructor(job: Job<JobData>, token: string, link: QueueLink, core: DurableCore, attempts: Attempts) {
    this.job = job;
    this.due = job.data.due;
    this.token = token;
    this.link = link;
    this.core = core;
    this.attempts = attempts;
  }

  get name(): string {
    return this.job.name;
  }

  get key(): string {
    return this.job.data.key;
  }

  async claim(): Promise<Claim | undefined> {
    const [job, lock, next] = this.keys;
    for (let { data } = this.job; ; ) {
      if (data.due > this.link.clock.now()) {
        // the clock of this machine is behind, or the timer was moved
        await this.delay(jobTime(this.link.clock, data.due));
        return undefined;
      }
      this.lockedUntil = performanceNow() + this.link.place.stalledAfter;
      const answer = await claim(this.link, [job, lock, next], this.token, JSON.stringify(data), this.claimId);
      if (typeof answer === 'object') {
        const found = readData(answer.data);
        this.end = 'leave'; // if it is damaged by now: it is taken anew
        if (found === undefined) return undefined;
        data = found;
        this.due = data.due;
        continue;
      }
      this.end = answer === 'lost' ? 'leave' : 'complete';
      return typeof answer === 'number' ? this.begun(timerOf(this.name, data, answer)) : undefined;
    }
  }

  /** Its attempt does not count any more, which its handler is told. */
  tell(how: Overtaken): void {
    this.overtaken ??= how;
    if (this.hasBegun) this.attempts.underWay(this.name, this.key)?.end(how);
  }

  /**
   * BullMQ sends its call to complete the job again when the answer is lost, and finds the job gone. While the lock
   * holds nobody else can have completed it, so that is no loss of the lock.
   */
  completeOnce(job: Job<JobData>): void {
    const complete = job.moveToCompleted.bind(job);
    job.moveToCompleted = async (...how) => {
      try {
        return await complete(...how);
      } catch (error) {
        if (!isGone(error) || this.lockedUntil <= performanceNow()) throw error;
      }
    };
  }

  private begun(attempt: StoredTimer): Claim {
    this.hasBegun = true;
    return { attempt, over: () => this.overtaken };
  }

  async writeEnding(_: StoredTimer, ending: Ending): Promise<boolean> {
    if (ending.kind === 'done') return true;
    const { timer } = ending;
    const data = JSON.stringify(jobDataOf(timer));
    const isAgain = ending.kind === 'again';
    const become = isAgain ? { data } : { timer: timerId(this.name, this.key), dead: deadText(ending.timer) };
    this.due = timer.due;
    this.end = 'leave'; // until Redis has kept it: a job that is completed is gone
    const answer = await writeEnding(this.link, this.keys, this.token, become);
    if (answer === 'lost') this.core.failed(DurableStoreError.lockLost(this.name, this.key));
    else if (answer === 'kept' && isAgain) await this.delay(jobTime(this.link.clock, timer.due));
    else this.end = 'complete';
    return answer === 'kept';
  }

  /** Keeps as dead what cannot be read, unless it was cancelled or scheduled anew. */
  async bury(damaged: string): Promise<void> {
    const dead = damagedTimer(this.name, this.key, Buffer.from(damaged), 0, this.link.clock.now());
    const become = { timer: timerId(this.name, this.key), dead: deadText(dead) };
    const answer = await this.link.certain(writeEnding(this.link, this.keys, this.token, become));
    this.end = answer === 'lost' ? 'leave' : 'complete';
    if (answer !== 'kept') return;
    this.core.failed(DurableStoreError.damaged(dead));
    this.core.died(dead);
  }

  /**
   * Puts the job back for want of a handler, until BullMQ's time is this. One that was cancelled, or scheduled anew,
   * needs none: it is to be completed.
   */
  async putBack(until: number): Promise<void> {
    const found = await this.link.certain(look(this.link, timerId(this.name, this.key)));
    if (found.job === this.job.id && isOver(found)) this.end = 'complete';
    else await this.delay(until);
  }

  /** Puts the job back until BullMQ's time is this. */
  async delay(until: number): Promise<void> {
    this.end = 'leave';
    try {
      await this.job.moveToDelayed(Math.ceil(until), this.token);
      await this.hasten(until);
      await promote(this.link);
    } catch (error) {
      const named = this.link.named(error);
      if (named.code !== 'ERR_STORE_LOCK_LOST') throw named; // it is another's by now
    }
  }

  /** What came while the job was put back is not to wait for as long. */
  private async hasten(until: number): Promise<void> {
    const found = await look(this.link, timerId(this.name, this.key));
    if (found.job !== this.job.id || found.data === null) return;
    const { due = this.due } = readData(found.data) ?? {};
    if (!isOver(found) && due === this.due) return;
    const time = isOver(found) ? 0 : jobTime(this.link.clock, due);
    // it has been taken
    if (time < until) await this.job.changeDelay(Math.max(0, Math.ceil(time - Date.now()))).catch(() => undefined);
  }

  /** The keys that say whether it counts still. */
  get jobAndNext(): [job: string, next: string] {
    const [job, , next] = this.keys;
    return [job, next];
  }

  private get keys(): [job: string, lock: string, next: string, dead: string] {
    const job = this.job.id as string;
    return [job, `${job}:lock`, `dn:${timerId(this.name, this.key)}`, DEAD];
  }
}
