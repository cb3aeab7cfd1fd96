import { outsideContexts } from '../async-context/async-context.ts';
import { SchedulerClosedError, type ShardFailedError, ShardHungError, ShardInlineError } from '../errors.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { Heartbeat } from '../lane/heartbeat.ts';
import { HIGH_WATER } from '../lane/lane-memory.ts';
import type { ShardOrigin, ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { SwitchableShard } from './auto-shard.ts';
import { type InlineParts, InlineShard } from './inline-shard.ts';
import { RestartPolicy, sleep } from './restart-policy.ts';
import { ServerNotice } from './server-notice.ts';
import type { ControlCall } from './shard-host.ts';
import { ShardThread } from './shard-thread.ts';
import type { StartQueue } from './start-queue.ts';
import type { SupervisionEvents, SupervisionOptions, Surroundings } from './supervision.ts';
import { GONE, ThreadRun } from './thread-run.ts';
import { Watchdog } from './watchdog.ts';

const monotonic = new MonotonicClock(clockOrigin());

/** ms for which a thread that has left its shard idles before its end: until then V8 may compile for it. docs/decisions.md */
const SETTLING = 250;

/**
 * A shard that outlives its threads.
 *
 *                    a thread is up           the thread dies
 *     inline ────────── hands over ──▶ thread ───────────────▶ another thread, built from the tables …
 *       ▲                                 │                        │ too many deaths
 *       └───────────── leave ─────────────┘                        ▼
 *                                                             inline, for good
 *
 * It begins inline, so that no timer waits for a thread to start. A thread that dies for any reason, or hangs and is
 * therefore ended, is followed by another that builds its index from the tables. After too many deaths within a short time
 * the shard goes on inline, in the client's thread, for good. Two never serve the shard at once: a successor
 * starts when the previous thread has exited, and a thread when the inline shard has handed over.
 */
export class SupervisedShard implements SwitchableShard {
  readonly notice = new ServerNotice();
  private readonly setup: ShardSetup;
  private readonly options: SupervisionOptions;
  private readonly events: SupervisionEvents;
  private readonly inlineParts: InlineParts;
  private readonly starts: StartQueue;
  private readonly address: string;
  private readonly doorbell: Doorbell;
  private readonly policy: RestartPolicy;
  private readonly watchdog: Watchdog;
  /** The latest thread; after its end another is created. */
  private thread: ShardThread | undefined;
  private inline: InlineShard | undefined;
  /** What serves it, or will. Rejects only once the shard is stopped. */
  private server: Promise<ThreadRun | InlineShard>;
  /** The run that serves it now, if a thread does. */
  private served: ThreadRun | undefined;
  private threadDeaths = 0;
  private inlineDeaths = 0;
  private deathsSinceServed = 0;
  /** The latest `endThread`. */
  private ending: Promise<void> | undefined;
  /** The end of a thread that has left the shard. */
  private leaving: Promise<void> | undefined;
  private isStopped = false;
  /** Number of threads that were given the shard, or were to be. */
  private epochs = 0;

  constructor(
    setup: ShardSetup,
    clock: SharedClock,
    options: SupervisionOptions,
    events: SupervisionEvents,
    { stages, starts, address, guestSlots }: Surroundings,
  ) {
    this.setup = setup;
    this.options = options;
    this.events = events;
    this.starts = starts;
    this.address = address;
    this.doorbell = new Doorbell(setup.doorbell);
    this.policy = new RestartPolicy(options.inlineAfter);
    const scale = new TickScale(setup.tick);
    const headers = setup.lanes.map(({ memory }) => new Int32Array(memory.header));
    this.watchdog = new Watchdog({
      heartbeat: new Heartbeat(setup.heartbeat),
      doorbell: this.doorbell,
      tick: () => scale.tickAtOrBefore(clock.exact()),
      slots: () => headers.reduce((sum, header) => sum + Atomics.load(header, HIGH_WATER), guestSlots()),
      limit: options.hangTimeout,
      hung: (silence) => this.thread?.kill(new ShardHungError(setup.number, silence)),
    });
    const failed = (error: ShardFailedError): void => {
      this.inlineDeaths += 1;
      events.failed(error);
    };
    this.inlineParts = { setup, stages, events: { ...events, failed } };
    this.inline = new InlineShard(this.inlineParts, true, { origin: 'nothing' });
    this.server = Promise.resolve(this.inline);
  }

  /** Deaths of its threads, and its failures inline. */
  get deaths(): number {
    return this.threadDeaths + this.inlineDeaths;
  }

  /** Resolves when it is served as its present state requires. */
  get ready(): Promise<void> {
    return this.server.then(() => undefined);
  }

  get isInline(): boolean {
    return this.inline !== undefined;
  }

  /** ms of the client's thread that turns have taken while it was inline. */
  get inlineTime(): number {
    return this.inline?.busy ?? 0;
  }

  /** Moves the shard to a thread, when one is up. Precondition: it is inline, and this has not been called before. */
  startThread(): void {
    outsideContexts(() => this.lead(undefined));
  }

  /** Starts to serve the shard. */
  private lead(cause: Error | undefined): void {
    this.server = this.serve(cause);
    this.server.catch(() => undefined); // it has been stopped: those who await the promise see that
  }

  /**
   * Serves it inline again, and ends its thread. Precondition: it was given a thread, and no other call ends that. If the thread
   * dies meanwhile, or the shard is stopped, the call has no effect. Never rejects.
   */
  endThread(): Promise<void> {
    this.ending = this.leaveThread();
    return this.ending;
  }

  private async leaveThread(): Promise<void> {
    const run = await this.server.catch(() => undefined); // it has been stopped
    if (!(run instanceof ThreadRun) || this.isStopped) return;
    const { thread } = this;
    const left = await run
      .ask('leave', () => this.doorbell.ring())
      .catch((error: Error) => {
        thread?.kill(error); // what it serves now is unknown: its successor is built from the tables
        return run.ended.then(() => GONE);
      });
    if (left === GONE || this.isStopped) return; // dead before it could leave: its successor is on the way
    this.watchdog.rest();
    this.served = undefined;
    this.thread = undefined;
    this.inline = new InlineShard(this.inlineParts, true, { origin: left as Int32Array[] });
    this.server = Promise.resolve(this.inline);
    this.leaving = sleep(SETTLING).then(() => thread?.stop());
    this.inline.afterPublish();
    this.events.news();
    await this.leaving;
    if (this.inline !== undefined) this.doorbell.awake(); // the thread had parked on it
    this.events.gone();
  }

  afterPublish(): void {
    this.inline?.afterPublish();
  }

  catchUp(): void {
    this.inline?.catchUp();
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    for (;;) {
      await this.ending; // a thread that is leaving would answer for lanes that it no longer has
      if (this.inline !== undefined) return this.inline.call(name);
      const run = await this.server; // rejects only once the shard is stopped
      if (run instanceof InlineShard) continue;
      const answer = await run.ask(name, () => this.doorbell.ring()); // wakes a parked shard
      if (answer !== GONE) return answer as ReturnType<ShardControl[C]>;
      if (this.isStopped) throw new SchedulerClosedError(name);
    }
  }

  /** Ends whatever serves it. Never rejects. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.watchdog.rest();
    await this.inline?.stop();
    await this.leaving;
    await this.thread?.stop();
  }

  /**
   * Serves the shard, by a thread or inline, with as many attempts as necessary. Any failure on the way, such as a refused
   * thread, port or timer, counts as a death. `cause`: what ended the previous thread, if any. Rejects only once it is stopped.
   */
  private async serve(cause: Error | undefined): Promise<ThreadRun | InlineShard> {
    for (let latest = cause; ; ) {
      this.requireRunning();
      try {
        if (latest !== undefined) {
          const pause = this.noteDeath();
          if (pause === Number.POSITIVE_INFINITY) return this.goInline(latest);
          if (pause > 0) await sleep(pause);
          this.requireRunning();
        }
        const thread = new ShardThread(this.setup, this.address, this.options);
        this.thread = thread;
        const run = await (this.inline === undefined ? this.serveOn(thread, 'tables') : this.leaveInline(thread));
        if (this.deathsSinceServed > 0) this.restarted(latest as Error, run.rescheduled);
        return run;
      } catch (error) {
        await this.thread?.stop(); // it may be alive without serving
        latest = error as Error;
      }
    }
  }

  private requireRunning(): void {
    if (this.isStopped) throw new SchedulerClosedError('ready');
  }

  /** Notes a death. Returns the ms to wait before the next start; Infinity for no further start. */
  private noteDeath(): number {
    this.threadDeaths += 1;
    this.deathsSinceServed += 1;
    this.events.gone();
    return this.policy.pauseAfterDeath(monotonic.now());
  }

  /** The first thread: the shard is served inline until it has loaded its code. */
  private async leaveInline(thread: ShardThread): Promise<ThreadRun> {
    await this.starts.enter(async () => {
      this.requireRunning();
      this.watchdog.watchStart();
      await thread.load().finally(() => this.watchdog.rest());
    });
    this.requireRunning();
    const origin = (this.inline as InlineShard).handOver();
    this.inline = undefined;
    return this.serveOn(thread, origin);
  }

  /** A predecessor that died may have taken commands that are now only in the tables. */
  private async serveOn(thread: ShardThread, origin: ShardOrigin): Promise<ThreadRun> {
    this.watchdog.watchStart();
    try {
      this.epochs += 1;
      const run = await thread.start(origin, this.epochs);
      this.watchdog.watchTurns();
      this.served = run;
      this.notice.set({ by: 'thread', epoch: this.epochs });
      void run.ended.then((cause) => this.replace(run, cause));
      return run;
    } catch (error) {
      this.watchdog.rest();
      throw error;
    }
  }

  private replace(run: ThreadRun, cause: Error): void {
    if (this.isStopped || this.served !== run) return; // it had already left its lanes
    this.served = undefined;
    this.notice.set({ by: 'nothing' });
    this.watchdog.rest();
    this.lead(cause);
  }

  private goInline(cause: Error): InlineShard {
    const deaths = this.deathsSinceServed;
    this.deathsSinceServed = 0;
    this.inline ??= new InlineShard(this.inlineParts, false, {
      origin: 'tables',
      cause,
      deaths,
    });
    const { inline } = this;
    this.notice.set({ by: 'clients' });
    this.events.wentInline(ShardInlineError.afterDeaths(this.setup.number, this.threadDeaths, cause));
    inline.afterPublish(); // does nothing if a listener has closed the scheduler
    this.events.news();
    return inline;
  }

  private restarted(cause: Error, rescheduled: number): void {
    const deaths = this.deathsSinceServed;
    this.deathsSinceServed = 0;
    this.events.restarted({ shard: this.setup.number, cause, rescheduled, deaths });
  }
}
