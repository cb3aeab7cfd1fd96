import type { MessagePort, Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { addressSpaceLeft } from '../memory/address-space.ts';
import { process } from '../process.ts';
import { SHARD_THREAD } from '../runtime.ts';
import type { ShardTask } from '../shard/build-shard.ts';
import type { LaneServer } from '../shard/lane-server.ts';
import { show } from '../show.ts';
import { nextTick, withNodesMicrotasks } from '../unfaked.ts';
import { GONE, type LaneCall } from './lane-link.ts';
import { findThreadFiles, loadThreadLibraries, type ThreadFiles } from './thread-files.ts';
import type { ResolvedThreadOptions } from './thread-options.ts';
import { withoutOpeningStreams } from './unopened-streams.ts';

/** The thread's calls, through comlink; comlink's own types need those of browsers. */
type Remote = Readonly<Record<LaneCall, (...given: unknown[]) => Promise<unknown>>>;

/** Bytes. Where V8 cannot have as much for a thread, it ends the process. */
const ADDRESS_SPACE = 2 ** 29;

/**
 * A thread of a shard, in its own piscina. The pool starts the thread and reports its death; this class gives it its
 * work.
 *
 * There is one pool per thread, because a pool hands a task to any idle thread, and a serving thread counts as idle:
 * its task returned when the loop was started (see `workers/shard.ts`). Also, a pool that keeps threads starts them by
 * itself, and a refused thread is not reported. This pool keeps none, so it starts one in `run` and no other.
 */
export class ShardThread {
  /** Created with the thread. */
  private pool: Piscina | undefined;
  /** Resolves with what ended the thread, after it has exited; set once it has started. */
  ended: Promise<Error> | undefined;
  private readonly task: Omit<ShardTask, 'control'>;
  private readonly settings: ResolvedThreadOptions;
  private remote: Remote | undefined;
  private port: MessagePort | undefined;
  private killedFor: Error | undefined;
  private stopping: Promise<void> | undefined;
  /** What gives up the calls that wait; undefined once the thread has ended. */
  private waiting: Set<() => void> | undefined = new Set();

  constructor(task: Omit<ShardTask, 'control'>, settings: ResolvedThreadOptions) {
    this.task = task;
    this.settings = settings;
  }

  /**
   * Starts the thread, and the shard on it. Rejects with what ended the thread or prevented it. A thread that dies
   * before it is up leaves its task in the pool's queue, so the task is given up with its thread.
   */
  async start(): Promise<void> {
    const { task, settings } = this;
    const left = addressSpaceLeft();
    if (left < ADDRESS_SPACE) throw new Error(`a thread needs address space, of which ${left} bytes are left`);
    const files = findThreadFiles(settings.workerUrl);
    const { Pool, wrap, nodeEndpoint } = loadThreadLibraries(files);
    const { port1, port2: control } = new (process.getBuiltinModule('node:worker_threads').MessageChannel)();
    this.port = port1;
    this.remote = wrap<LaneServer>(nodeEndpoint(port1)) as unknown as Remote;
    // The port closes with the thread, so its end is then gone. It does not hold the process: KeepAlive does, when
    // necessary.
    port1.unref();
    const pool = newPool(Pool, files, settings);
    const givenUp = new AbortController();
    pool.once('workerDestroy', () => givenUp.abort());
    const options = { transferList: [control], signal: givenUp.signal };
    try {
      const running = endingOrphans(() => runIn(pool, { ...task, control }, options));
      this.pool = pool; // now it has a thread; a pool without one must not be destroyed: it would reject
      this.ended = this.endOf(pool.threads[0]);
      await running;
    } catch (error) {
      throw givenUp.signal.aborted && this.ended !== undefined ? await this.ended : error;
    }
  }

  /**
   * Calls the thread; a parked shard sees it only when `ring` rings it. Resolves with GONE if the thread ends first.
   */
  call(name: LaneCall, given: readonly unknown[], ring: () => void): Promise<unknown> {
    const { remote, waiting } = this;
    if (remote === undefined || waiting === undefined) return Promise.resolve(GONE);
    return new Promise((resolve, reject) => {
      const giveUp = () => resolve(GONE);
      waiting.add(giveUp);
      const done = () => waiting.delete(giveUp);
      remote[name](...given)
        .then(resolve, reject)
        .finally(done);
      ring();
    });
  }

  /** Ends the thread at any point; `cause` is recorded as what ended it. */
  kill(cause: Error): void {
    this.killedFor = cause;
    void this.pool?.threads[0]?.terminate();
  }

  /** Ends the thread. Never rejects. */
  stop(): Promise<void> {
    this.port?.close();
    const { pool } = this;
    this.stopping ??= pool === undefined ? Promise.resolve() : withNodesMicrotasks(() => pool.destroy());
    return this.stopping;
  }

  private endOf(thread: Worker): Promise<Error> {
    return new Promise<Error>((resolve) => {
      let thrown: Error | undefined;
      thread.once('error', (error: unknown) => {
        thrown = error instanceof Error ? error : new Error(`The thread has thrown ${show(error)}`);
      });
      thread.once('exit', (code) => {
        const { waiting = new Set() } = this;
        this.waiting = undefined;
        for (const giveUp of waiting) giveUp();
        const exit = `The thread of shard ${this.task.setup.number} exited with code ${code}`;
        resolve(this.killedFor ?? thrown ?? new Error(exit));
      });
    });
  }
}

function newPool(Pool: typeof Piscina, { worker, preloads }: ThreadFiles, settings: ResolvedThreadOptions): Piscina {
  const { resourceLimits, execArgv, env } = settings;
  const pool = new Pool({
    filename: worker,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The thread waits on its shard's doorbell, not on the pool's.
    atomics: 'disabled',
    recordTiming: false,
    argv: [SHARD_THREAD],
    execArgv: [...preloads.flatMap((path) => ['--require', path]), ...execArgv],
    env: { ...env },
    resourceLimits,
  });
  pool.on('error', () => undefined); // the thread's own 'error' event reports the same, in time
  return pool;
}

/**
 * A pool whose microtask is refused forgets the promise of its task, which rejects later, and that would end the
 * process.
 */
const runIn = (pool: Piscina, task: ShardTask, options: object): Promise<unknown> =>
  withNodesMicrotasks(() => withoutOpeningStreams(() => pool.run(task, options)));

/**
 * Calls a function. If it throws, ends the threads that it has created, since nothing else refers to them: the pool's
 * thread, if memory is refused after the thread was created. Node reports a thread in a separate tick.
 */
function endingOrphans<T>(make: () => T): T {
  const made: Worker[] = [];
  const note = (thread: Worker): void => void made.push(thread);
  nextTick(() => process.on('worker', note));
  try {
    return make();
  } catch (error) {
    nextTick(() => {
      for (const thread of made) void thread.on('error', () => undefined).terminate(); // nothing waits for it
    });
    throw error;
  } finally {
    nextTick(() => process.off('worker', note));
  }
}
