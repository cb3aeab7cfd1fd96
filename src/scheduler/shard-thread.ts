import { MessageChannel } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { Piscina } from 'piscina';
import type { ShardTask } from '../../workers/shard.ts';
import { SchedulerClosedError } from '../errors.ts';
import { Doorbell } from '../lane/doorbell.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import type { ControlCall, ShardHost, ShardRestart } from './shard-host.ts';

// Taken once: a test that fakes the timers of its thread must not hold back a restart.
const { setTimeout } = globalThis;

const WORKER = new URL('../../workers/entry.cjs', import.meta.url).href;

/** Restarts within this time lengthen the pause before the next; ms. */
const RESTART_WINDOW = 10_000;
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 1000;
/** How long to wait for the exit code of a thread whose ports have closed; ms. */
const EXIT_PATIENCE = 1000;

const monotonic = new MonotonicClock(clockOrigin());

const LOST = Symbol('the thread is gone');

/** One life of the shard's thread. */
interface Life {
  readonly control: Remote<ShardControl>;
  /** Resolves when the thread is gone. */
  readonly lost: Promise<typeof LOST>;
  /** Live timers that were indexed from the tables. */
  readonly rescheduled: number;
}

/** What the scheduler hears of a shard's thread. */
export interface ShardThreadEvents {
  /** There are fired records, or an answer. */
  news(): void;
  /** The thread is gone; its successor is on the way. */
  died(): void;
  restarted(restart: ShardRestart): void;
}

/**
 * A shard on a thread of its own, in a piscina of one thread: the pool starts it, hears of its death and replaces it;
 * this class gives the new thread its work. One pool per shard, because a pool hands a task to any idle thread, and a
 * serving thread counts as idle: its task returned when the loop was started (see `workers/shard.ts`).
 */
export class ShardThread implements ShardHost {
  readonly ready: Promise<void>;
  private readonly setup: ShardSetup;
  private readonly events: ShardThreadEvents;
  private readonly doorbell: Doorbell;
  private readonly pool: Piscina;
  private life: Promise<Life>;
  private failure: Error | undefined;
  private exitCode: Promise<number> = Promise.resolve(0);
  private deaths: number[] = [];
  private isStopped = false;

  constructor(setup: ShardSetup, events: ShardThreadEvents) {
    this.setup = setup;
    this.events = events;
    this.doorbell = new Doorbell(setup.doorbell);
    this.pool = new Piscina({
      filename: WORKER,
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // The thread waits on its shard's doorbell, not on the pool's.
      atomics: 'disabled',
      recordTiming: false,
    });
    // An error that ends the thread after its task has returned arrives here.
    this.pool.on('error', (error: Error) => {
      this.failure = error;
    });
    this.life = this.live(true);
    this.ready = this.life.then(() => undefined);
    this.ready.catch(() => undefined);
  }

  poke(): void {}

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    for (;;) {
      const life = await this.life; // rejects only once the shard is stopped
      const answer = Promise.race([life.control[name](), life.lost]);
      this.doorbell.ring(); // the call is posted; a parked shard looks when it is rung
      const result = await answer;
      if (result !== LOST) return result as ReturnType<ShardControl[C]>;
      if (this.isStopped) throw new SchedulerClosedError(name);
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.life.catch(() => undefined);
    await this.pool.destroy();
  }

  /** Starts the shard on the pool's thread, as often as it takes. */
  private async live(isFirst: boolean): Promise<Life> {
    for (let attempt = 0; ; attempt++) {
      try {
        // Whoever died before may have taken commands that only the table still knows of.
        const life = await this.start(!isFirst || attempt > 0);
        void life.lost.then(() => this.replace());
        return life;
      } catch (error) {
        if (this.isStopped) throw new SchedulerClosedError('ready');
        this.failure = error as Error;
        await this.pause();
      }
    }
  }

  private async start(rebuild: boolean): Promise<Life> {
    const control = new MessageChannel();
    const bell = new MessageChannel();
    // A thread that ends, however it does, closes its ends.
    const lost = new Promise<typeof LOST>((resolve) => {
      bell.port1.once('close', () => {
        control.port1.close();
        resolve(LOST);
      });
    });
    bell.port1.on('message', () => this.events.news());
    const remote = wrap<ShardControl>(nodeEndpoint(control.port1));
    // Neither port holds the process: KeepAlive does, while there is a reason to.
    bell.port1.unref();
    control.port1.unref();
    const task: ShardTask = { setup: this.setup, rebuild, control: control.port2, bell: bell.port2 };
    try {
      const rescheduled = await this.runTask(task);
      this.exitCode = new Promise((resolve) => this.pool.threads[0]?.once('exit', resolve));
      return { control: remote, lost, rescheduled };
    } catch (error) {
      bell.port1.close(); // and with it control.port1
      throw error;
    }
  }

  /**
   * Runs a task on the pool's thread. A thread that dies before it is up leaves its task in the pool's queue, and the
   * pool starts no other: so the task is given up with its thread, and the next one makes the pool start anew.
   */
  private async runTask(task: ShardTask): Promise<number> {
    const givenUp = new AbortController();
    const giveUp = () => givenUp.abort(new Error('The thread ended before it was up'));
    this.pool.once('workerDestroy', giveUp);
    try {
      return await this.pool.run(task, { transferList: [task.control, task.bell], signal: givenUp.signal });
    } finally {
      this.pool.off('workerDestroy', giveUp);
    }
  }

  private replace(): void {
    if (this.isStopped) return;
    this.life = this.succeed();
    this.life.catch(() => undefined);
  }

  private async succeed(): Promise<Life> {
    this.events.died();
    const code = await Promise.race([this.exitCode, delay(EXIT_PATIENCE)]);
    const cause =
      this.failure ?? new Error(`The thread of shard ${this.setup.number} exited with code ${code ?? '(unknown)'}`);
    this.failure = undefined;
    await this.pause();
    const life = await this.live(false);
    this.events.restarted({ shard: this.setup.number, cause, rescheduled: life.rescheduled });
    return life;
  }

  /** Waits before a restart: not at all after the first death for a while, then longer and longer. */
  private async pause(): Promise<void> {
    const now = monotonic.now();
    this.deaths = this.deaths.filter((death) => now - death < RESTART_WINDOW);
    const recent = this.deaths.push(now);
    if (recent > 1) await delay(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (recent - 2)));
  }
}

const delay = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds).unref());
