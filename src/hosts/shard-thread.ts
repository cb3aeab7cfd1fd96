import type { MessagePort, Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { show } from '../errors.ts';
import { process } from '../process.ts';
import type { ShardOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import type { ShardTask } from '../shard/shard-task.ts';
import { newLifeline } from './lifeline.ts';
import { SHARD_THREAD } from './shard-thread-mark.ts';
import { withoutOpeningStreams } from './standard-streams.ts';
import { findThreadFiles, loadThreadLibraries } from './thread-files.ts';
import { type ThreadOptions, ThreadRun } from './thread-run.ts';

/**
 * A thread of a shard, in its own piscina. The pool starts the thread and reports its death; this class gives it its work.
 *
 * There is one pool per thread, because a pool hands a task to any idle thread, and a serving thread counts as idle: its task
 * returned when the loop was started (see `workers/shard.ts`). Also, a pool that keeps threads starts them by itself, and a
 * refused thread is not reported. This pool keeps none, so it starts one in `run` and no other.
 */
export class ShardThread {
  private readonly setup: ShardSetup;
  private readonly address: string;
  private readonly options: ThreadOptions;
  private readonly lifeline = newLifeline();
  /** Created with the thread. */
  private pool: Piscina | undefined;
  /** Resolves with what ended the thread; set once it has started. */
  private ended: Promise<Error> | undefined;
  private killedFor: Error | undefined;
  private stopping: Promise<void> | undefined;

  constructor(setup: ShardSetup, address: string, options: ThreadOptions) {
    this.setup = setup;
    this.address = address;
    this.options = options;
  }

  /** Starts the thread and makes it load its code. Rejects with what ended the thread or prevented it. */
  async load(): Promise<void> {
    await this.runTask(undefined, []);
  }

  /** Starts the shard on the thread. Rejects with what ended the thread, or prevented the shard's start. */
  async start(origin: ShardOrigin, epoch: number): Promise<ThreadRun> {
    const { port1, port2 } = new (process.getBuiltinModule('node:worker_threads').MessageChannel)();
    try {
      const { wrap, nodeEndpoint } = loadThreadLibraries(findThreadFiles(this.options.workerUrl));
      const remote = wrap<ShardControl>(nodeEndpoint(port1));
      // The port closes with the thread, so its end is then gone. It does not hold the process: KeepAlive does, when necessary.
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

  /** Ends the thread at any point; `cause` is recorded as what ended it. */
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
   * Runs a task on the thread; the first task starts the thread. A thread that dies before it is up leaves its task in the pool's
   * queue, so the task is given up with its thread. Throws if no thread can be started.
   */
  private async runTask(task: ShardTask | undefined, transferList: MessagePort[]): Promise<number> {
    const pool = this.pool ?? this.makePool();
    const givenUp = new AbortController();
    const giveUp = () => givenUp.abort();
    pool.once('workerDestroy', giveUp);
    try {
      const running = endingOrphans(() =>
        withoutOpeningStreams(() => pool.run(task, { transferList, signal: givenUp.signal })),
      );
      this.pool = pool; // now it has a thread; a pool without one must not be destroyed: it would reject
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
    const files = findThreadFiles(workerUrl);
    const { worker, preload } = files;
    const { Pool } = loadThreadLibraries(files);
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
    pool.on('error', () => undefined); // the thread's own 'error' event reports the same, in time
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
 * Calls a function. If it throws, ends the threads that it has created, since nothing else refers to them: the pool's thread, if
 * memory is refused after the thread was created. Node reports a thread in a separate tick.
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
      for (const thread of made) void thread.on('error', () => undefined).terminate(); // nothing waits for it
    });
    throw error;
  } finally {
    process.nextTick(() => process.off('worker', note));
  }
}
