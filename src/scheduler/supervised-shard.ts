import type { ResourceLimits } from 'node:worker_threads';
import { SchedulerClosedError, ShardHungError, ShardInlineError } from '../errors.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { wordOf } from '../lane/due-word.ts';
import { Heartbeat } from '../lane/heartbeat.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { InlineShard } from './inline-shard.ts';
import { type DeathLimit, RestartPolicy } from './restart-policy.ts';
import type { ControlCall, ShardHost, ShardRestart } from './shard-host.ts';
import { GONE, ShardThread, type ThreadLife } from './shard-thread.ts';
import { Watchdog } from './watchdog.ts';

// Taken once: a test that fakes the timers of its thread must not hold back a restart.
const { setTimeout } = globalThis;

const monotonic = new MonotonicClock(clockOrigin());

export interface SupervisionOptions {
  /** ms without a turn that was due, after which a thread is taken for hung; Infinity for never. */
  readonly hangTimeout: number;
  readonly inlineAfter: DeathLimit;
  readonly resourceLimits: ResourceLimits | undefined;
}

/** What the scheduler hears of a shard that runs on threads. */
export interface SupervisionEvents {
  /** There are fired records, or an answer, or the shard has to be poked. */
  news(): void;
  /** The thread is gone; its successor is on the way. */
  died(): void;
  restarted(restart: ShardRestart): void;
  /** No thread is started any more: the shard goes on in this one. */
  wentInline(error: ShardInlineError): void;
}

/**
 * A shard that outlives its threads. A thread that dies, for whatever reason, or hangs and is ended for it, is followed
 * by another that builds its index from the tables; after too many deaths within a short time the shard goes on inline,
 * in the client's thread, for good. Never do two of them serve the shard at once: a successor starts when the thread
 * before it has exited.
 */
export class SupervisedShard implements ShardHost {
  readonly ready: Promise<void>;
  private readonly setup: ShardSetup;
  private readonly events: SupervisionEvents;
  private readonly doorbell: Doorbell;
  private readonly thread: ShardThread;
  private readonly policy: RestartPolicy;
  private readonly watchdog: Watchdog;
  private life: Promise<ThreadLife | InlineShard>;
  private inline: InlineShard | undefined;
  private isStopped = false;

  constructor(setup: ShardSetup, clock: SharedClock, options: SupervisionOptions, events: SupervisionEvents) {
    this.setup = setup;
    this.events = events;
    this.doorbell = new Doorbell(setup.doorbell);
    this.thread = new ShardThread(setup, options.resourceLimits, events.news);
    this.policy = new RestartPolicy(options.inlineAfter);
    const scale = new TickScale(setup.tick);
    this.watchdog = new Watchdog({
      heartbeat: new Heartbeat(setup.heartbeat),
      doorbell: this.doorbell,
      dueWord: () => wordOf(scale.tickAtOrBefore(clock.exact())),
      limit: options.hangTimeout,
      hung: (silence) => this.thread.kill(new ShardHungError(setup.number, silence)),
    });
    this.life = this.live(undefined);
    this.ready = this.life.then(() => undefined);
    this.ready.catch(() => undefined);
  }

  get isInline(): boolean {
    return this.inline !== undefined;
  }

  poke(): void {
    this.inline?.poke();
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    for (;;) {
      const life = await this.life; // rejects only once the shard is stopped
      if (life instanceof InlineShard) return life.call(name);
      const asking = life.ask(name);
      this.doorbell.ring(); // the call is posted; a parked shard looks when it is rung
      const answer = await asking;
      if (answer !== GONE) return answer as ReturnType<ShardControl[C]>;
      if (this.isStopped) throw new SchedulerClosedError(name);
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.watchdog.rest();
    this.life.catch(() => undefined);
    await this.inline?.stop();
    await this.thread.stop();
  }

  /** Has the shard served, by a thread or inline, as often as it takes. `cause` is what ended the thread before, if any. */
  private async live(cause: Error | undefined): Promise<ThreadLife | InlineShard> {
    for (let latest = cause; ; ) {
      if (latest !== undefined) {
        this.events.died();
        const pause = this.policy.pauseAfterDeath(monotonic.now());
        if (pause === Number.POSITIVE_INFINITY) return this.goInline(latest);
        if (pause > 0) await delay(pause);
      }
      if (this.isStopped) throw new SchedulerClosedError('ready');
      try {
        // Whoever died before may have taken commands that only the table still knows of.
        const life = await this.startThread(latest !== undefined);
        if (latest !== undefined) this.restarted(latest, life.rescheduled);
        return life;
      } catch (error) {
        if (this.isStopped) throw new SchedulerClosedError('ready');
        latest = error as Error;
      }
    }
  }

  private async startThread(rebuild: boolean): Promise<ThreadLife> {
    this.watchdog.watchStart();
    try {
      const life = await this.thread.start(rebuild);
      this.watchdog.watchTurns();
      void life.ended.then((cause) => this.replace(cause));
      return life;
    } catch (error) {
      this.watchdog.rest();
      throw error;
    }
  }

  private replace(cause: Error): void {
    this.watchdog.rest();
    if (this.isStopped) return;
    this.life = this.live(cause);
    this.life.catch(() => undefined);
  }

  private async goInline(cause: Error): Promise<InlineShard> {
    await this.thread.stop(); // the pool has started another already, which was given nothing to do
    if (this.isStopped) throw new SchedulerClosedError('ready');
    this.inline = new InlineShard(this.setup, this.events.news, true);
    this.events.wentInline(new ShardInlineError(this.setup.number, cause));
    this.restarted(cause, this.inline.rescheduled);
    this.events.news();
    return this.inline;
  }

  private restarted(cause: Error, rescheduled: number): void {
    this.events.restarted({ shard: this.setup.number, cause, rescheduled });
  }
}

const delay = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
