import process from 'node:process';
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import type { Piscina } from 'piscina';
import { show } from '../errors.ts';
import type { ShardOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import type { ShardTask } from '../shard/shard-task.ts';
import { newLifeline } from './lifeline.ts';
import { SHARD_THREAD } from './shard-thread-mark.ts';
import { loadThreadFiles } from './thread-files.ts';
import { type ThreadOptions, ThreadRun } from './thread-run.ts';

/**
 * A thread of a shard, in a piscina of its own: the pool starts it and hears of its death, this class gives it its work.
 * One pool per thread, because a pool hands a task to any idle thread, and a serving thread counts as idle: its task
 * returned when the loop was started (see `workers/shard.ts`). And because a pool starts threads of its own accord where
 * nobody can hear that one was refused: this one has to keep none, so it starts one in `run`, and no other after it.
 */
export class ShardThread {
  private readonly setup: ShardSetup;
  private readonly address: string;
  private readonly options: ThreadOptions;
  private readonly lifeline = newLifeline();
  /** Made with the thread. */
  private pool: Piscina | undefined;
  /** What the thread will have ended by, once it has. */
  private ended: Promise<Error> | undefined;
  private killedFor: Error | undefined;
  private stopping: Promise<void> | undefined;

  constructor(setup: ShardSetup, address: string, options: ThreadOptions) {
    this.setup = setup;
    this.address = address;
    this.options = options;
  }

  /** Starts the thread and has it load its code. Rejects with what ended it, or kept it from being made. */
  async load(): Promise<void> {
    await this.runTask(undefined, []);
  }

  /** Starts the shard on the thread. Rejects with what ended the thread, or kept the shard from starting on it. */
  async start(origin: ShardOrigin, epoch: number): Promise<ThreadRun> {
    const { port1, port2 } = new MessageChannel();
    try {
      const remote = wrap<ShardControl>(nodeEndpoint(port1));
      // It closes with the thread, whose end is gone then. It does not hold the process: KeepAlive does, while there is a
      // reason to.
      port1.unref();
      const { setup, address } = this;
      const lifeline = this.lifeline.memory;
      const rescheduled = await this.runTask({ setup, address, origin, epoch, control: port2, lifeline }, [port2]);
      return new ThreadRun(remote, this.ended as Promise<Error>, rescheduled);
    } catch (error) {
      port1.close();
      port2.close();
      throw error;
    }
  }

  /** Ends the thread wherever it stands; `cause` is what it then counts as ended by. */
  kill(cause: Error): void {
    this.killedFor = cause;
    void this.pool?.threads[0]?.terminate();
  }

  /** Ends the thread. Never rejects. */
  stop(): Promise<void> {
    this.stopping ??= this.pool === undefined ? Promise.resolve() : this.pool.destroy();
    return this.stopping;
  }

  /**
   * Runs a task on the thread, which the first task starts. A thread that dies before it is up leaves its task in the
   * pool's queue: so the task is given up with its thread. Throws where no thread is to be had.
   */
  private async runTask(task: ShardTask | undefined, transferList: MessagePort[]): Promise<number> {
    const pool = this.pool ?? this.makePool();
    const givenUp = new AbortController();
    const giveUp = () => givenUp.abort();
    pool.once('workerDestroy', giveUp);
    try {
      const running = endingOrphans(() => pool.run(task, { transferList, signal: givenUp.signal }));
      this.pool = pool; // from here on it has a thread; one that could start none must not be destroyed: it would reject
      this.ended ??= this.endOf(pool.threads[0]);
      return await running;
    } catch (error) {
      throw givenUp.signal.aborted && this.ended !== undefined ? await this.ended : error;
    } finally {
      pool.off('workerDestroy', giveUp);
    }
  }

  private makePool(): Piscina {
    const { resourceLimits, execArgv, env, workerUrl } = this.options;
    const { worker, preload, Pool } = loadThreadFiles(workerUrl);
    const pool = new Pool({
      filename: worker,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The thread waits on its shard's doorbell, not on the pool's.
      atomics: 'disabled',
      recordTiming: false,
      argv: [SHARD_THREAD],
      execArgv: preload === undefined ? [...execArgv] : ['--require', preload, ...execArgv],
      env: { ...env },
      resourceLimits,
    });
    pool.on('error', () => undefined); // the thread's own 'error' event says the same, and when
    return pool;
  }

  private endOf(thread: Worker): Promise<Error> {
    return new Promise<Error>((resolve) => {
      let thrown: Error | undefined;
      thread.once('error', (error: unknown) => {
        thrown = error instanceof Error ? error : new Error(`The thread has thrown ${show(error)}`);
      });
      thread.once('exit', (code) => {
        const told = new Error(`The thread of shard ${this.setup.number} exited with code ${code}`);
        void this.lifeline.gone().then(() => resolve(this.killedFor ?? thrown ?? told));
      });
    });
  }
}

/**
 * Calls a function. Where it throws, ends the threads that it has made, since nobody else knows of them: the pool's, if memory
 * is refused between the thread and what belongs to it. Node reports a thread in a tick of its own.
 */
function endingOrphans<T>(make: () => T): T {
  const made: Worker[] = [];
  const note = (thread: Worker): void => {
    made.push(thread);
  };
  process.nextTick(() => process.on('worker', note));
  try {
    return make();
  } catch (error) {
    process.nextTick(() => {
      for (const thread of made) void thread.on('error', () => undefined).terminate(); // it has nobody to tell
    });
    throw error;
  } finally {
    process.nextTick(() => process.off('worker', note));
  }
}
