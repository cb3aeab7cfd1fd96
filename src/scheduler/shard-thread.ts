import { MessageChannel, type Worker } from 'node:worker_threads';
import { wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { Piscina } from 'piscina';
import type { ShardTask } from '../../workers/shard.ts';
import { show } from '../errors.ts';
import type { ShardOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import { ThreadLife, type ThreadOptions } from './thread-life.ts';

const WORKER = new URL('../../workers/entry.cjs', import.meta.url).href;

/**
 * The thread of a shard, and after it the next one, in a piscina of one thread: the pool starts it and hears of its
 * death, this class gives it its work. One pool per shard, because a pool hands a task to any idle thread, and a serving
 * thread counts as idle: its task returned when the loop was started (see `workers/shard.ts`).
 */
export class ShardThread {
  private readonly setup: ShardSetup;
  private readonly options: ThreadOptions;
  private readonly news: () => void;
  /** Made with the first thread. */
  private pool: Piscina | undefined;
  private readonly ends = new WeakMap<Worker, Promise<Error>>();
  private killedFor: Error | undefined;
  private stopping: Promise<void> | undefined;

  /** `news`: there are fired records, or an answer. */
  constructor(setup: ShardSetup, options: ThreadOptions, news: () => void) {
    this.setup = setup;
    this.options = options;
    this.news = news;
  }

  /** Starts the thread and has it load its code. Rejects with what ended it, or kept it from being made. */
  async load(): Promise<void> {
    await this.runTask(this.startPool(), undefined);
  }

  /** Starts the shard on the pool's thread. Rejects with what ended the thread, or kept the shard from starting on it. */
  async start(origin: ShardOrigin): Promise<ThreadLife> {
    const pool = this.startPool();
    const control = new MessageChannel();
    const bell = new MessageChannel();
    const closePorts = (): void => {
      bell.port1.close();
      control.port1.close();
    };
    bell.port1.on('message', this.news);
    const remote = wrap<ShardControl>(nodeEndpoint(control.port1));
    // They close with the thread, whose ends are gone then. Neither holds the process: KeepAlive does, while there is a reason to.
    bell.port1.unref();
    control.port1.unref();
    try {
      const task: ShardTask = { setup: this.setup, origin, control: control.port2, bell: bell.port2 };
      const { ended, rescheduled } = await this.runTask(pool, task);
      return new ThreadLife(remote, ended, rescheduled);
    } catch (error) {
      closePorts();
      throw error;
    }
  }

  /** Ends the thread wherever it stands; `cause` is what it then counts as ended by. */
  kill(cause: Error): void {
    this.killedFor = cause;
    void this.pool?.threads[0]?.terminate();
  }

  /** Ends the thread, and starts no other. */
  stop(): Promise<void> {
    this.stopping ??= this.pool === undefined ? Promise.resolve() : this.pool.destroy();
    return this.stopping;
  }

  /** Throws where no thread is to be had. Precondition: not stopped. */
  private startPool(): Piscina {
    if (this.pool !== undefined) return this.pool;
    const { resourceLimits, execArgv, env } = this.options;
    const pool = new Piscina({
      filename: WORKER,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The thread waits on its shard's doorbell, not on the pool's.
      atomics: 'disabled',
      recordTiming: false,
      execArgv: [...execArgv],
      env: { ...env },
      resourceLimits,
    });
    pool.on('error', () => undefined); // the thread's own 'error' event says the same, and when
    this.pool = pool;
    return pool;
  }

  /**
   * Runs a task on the pool's thread. A thread that dies before it is up leaves its task in the pool's queue, and the
   * pool starts no other: so the task is given up with its thread, and the next one makes the pool start anew.
   */
  private async runTask(
    pool: Piscina,
    task: ShardTask | undefined,
  ): Promise<{ ended: Promise<Error>; rescheduled: number }> {
    const givenUp = new AbortController();
    const giveUp = () => givenUp.abort();
    pool.once('workerDestroy', giveUp);
    let ended: Promise<Error> | undefined;
    try {
      const transferList = task === undefined ? [] : [task.control, task.bell];
      const running = pool.run(task, { transferList, signal: givenUp.signal });
      running.catch(() => undefined);
      ended = this.endOf(pool.threads[0]);
      return { rescheduled: await running, ended };
    } catch (error) {
      throw givenUp.signal.aborted && ended !== undefined ? await ended : error;
    } finally {
      pool.off('workerDestroy', giveUp);
    }
  }

  /** What the thread will have ended by, once it has. */
  private endOf(thread: Worker): Promise<Error> {
    const known = this.ends.get(thread);
    if (known !== undefined) return known;
    const end = new Promise<Error>((resolve) => {
      let thrown: Error | undefined;
      thread.once('error', (error: unknown) => {
        thrown = error instanceof Error ? error : new Error(`The thread has thrown ${show(error)}`);
      });
      thread.once('exit', (code) => {
        const told = new Error(`The thread of shard ${this.setup.number} exited with code ${code}`);
        resolve(this.killedFor ?? thrown ?? told);
        this.killedFor = undefined;
      });
    });
    this.ends.set(thread, end);
    return end;
  }
}
