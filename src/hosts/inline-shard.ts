import { outsideContexts } from '../async-context/async-context.ts';
import { ShardFailedError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { REQUEST } from '../lane/lane-memory.ts';
import {
  type BuildOptions,
  type BuiltShard,
  buildShard,
  type LaneSetup,
  type ShardOrigin,
  type ShardSetup,
  serveLane,
} from '../shard/build-shard.ts';
import type { Shard } from '../shard/shard.ts';
import { ShardControl } from '../shard/shard-control.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { clearTimeout, setTimeout } from '../time/native-timers.ts';
import { RestartPolicy } from './restart-policy.ts';
import type { ControlCall, ShardHost, ShardRestart } from './shard-host.ts';

const LONGEST_TIMEOUT = 2 ** 31 - 1;

const monotonic = new MonotonicClock(clockOrigin());

export interface InlineEvents {
  /** The client has something to look at, or the shard more to do. */
  news(): void;
  /** The time of its next event has come. Called by Node itself: a turn can be taken in this very call. */
  woken(): void;
  /** It has failed, and tries again. */
  failed(error: ShardFailedError): void;
  /** It was built in the place of one that died. */
  restarted(restart: ShardRestart): void;
}

/** What an inline shard is made of. */
export interface InlineParts {
  readonly setup: ShardSetup;
  /** Where the lanes' clients stage their commands. */
  readonly stages: readonly CommandStage[];
  readonly events: InlineEvents;
}

/** Whom it follows. */
export interface Predecessor {
  readonly origin: ShardOrigin;
  /** Set where that one died, with the number of deaths since the shard was served last. */
  readonly cause?: Error;
  readonly deaths?: number;
}

/**
 * A shard that runs in the caller's thread: the same turns, driven by the client's turns and by one native timer that stands
 * for the park. What the client stages goes straight to the index. No thread is started. Without timers nothing is built, either.
 *
 * It is where a shard goes when nothing else can be had, so nothing ends it: what a turn or the building throws (memory
 * that is refused, above all) is reported, and the shard is built again from the tables, after longer and longer pauses. As
 * with a thread that dies, no timer is lost by that.
 */
export class InlineShard implements ShardHost {
  readonly ready = Promise.resolve();
  readonly isInline = true;
  /** Times that it has failed. */
  deaths = 0;
  /** ms of this thread's time that turns have taken. */
  busy = 0;
  private readonly setup: ShardSetup;
  private readonly lanes: LaneSetup[];
  private readonly stages: CommandStage[];
  private readonly events: InlineEvents;
  private readonly isTemporary: boolean;
  private readonly headers: Int32Array[];
  private readonly policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
  /** What it is built from. */
  private origin: ShardOrigin;
  /** Why it has to be built; undefined once it is. */
  private cause: Error | undefined;
  private deathsSinceServed: number;
  private built: BuiltShard | undefined;
  private control: ShardControl | undefined;
  /** For the next event, or for the end of a pause. */
  private timer: NodeJS.Timeout | undefined;
  private timerFor = Number.POSITIVE_INFINITY;
  /** See `firedUpTo`: as it was with the last `catchUp`. */
  private firedTick = -1;
  private isPausing = false;
  private isOver = false;

  /** Does nothing before it is told of a publication. One that `isTemporary` can hand its lanes over. */
  constructor({ setup, stages, events }: InlineParts, isTemporary: boolean, before: Predecessor) {
    this.lanes = [...setup.lanes];
    this.stages = [...stages];
    this.setup = { ...setup, lanes: this.lanes };
    this.events = events;
    this.isTemporary = isTemporary;
    this.origin = before.origin;
    this.cause = before.cause;
    this.deathsSinceServed = before.deaths ?? 0;
    this.headers = this.lanes.map(({ memory }) => new Int32Array(memory.header));
    for (const stage of stages) stage.isServedHere = true;
    new Doorbell(setup.doorbell).awake(); // nobody need ring: it turns whenever the client has published
  }

  afterPublish(): void {
    if (this.isOver || this.isPausing) return;
    if (this.built === undefined && this.origin === 'nothing' && !this.isAsked()) return;
    let isMore: boolean;
    try {
      isMore = this.turn(this.built ?? this.build());
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.isOver) return; // closed by a listener that heard of a restart
    if (isMore) this.events.news();
    else this.sleep();
  }

  catchUp(): void {
    this.firedTick = this.fireDue();
  }

  firedUpTo(): number {
    return this.firedTick;
  }

  private fireDue(): number {
    if (this.built === undefined) {
      if (this.cause === undefined && !this.isAsked()) return Number.MAX_SAFE_INTEGER; // nothing is published
      this.afterPublish();
      return -1;
    }
    const tick = this.built.scale.tickAtOrBefore(this.built.clock.exact());
    if (!isDone(this.built.shard, tick)) this.afterPublish();
    return this.built !== undefined && isDone(this.built.shard, tick) ? tick : -1;
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    try {
      if (this.built === undefined) this.build();
      return (this.control as ShardControl)[name]() as ReturnType<ShardControl[C]>;
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Serves one more lane from here on, which has had no timer yet. Throws AllocationError. */
  admit(lane: LaneSetup, stage: CommandStage): void {
    if (this.built !== undefined) {
      const { news, isTemporary } = this;
      this.built.shard.admit(serveLane(this.built, lane, 'nothing', { news, stage, isTemporary }).lane);
    }
    this.lanes.push(lane);
    this.stages.push(stage);
    stage.isServedHere = true;
    this.headers.push(new Int32Array(lane.memory.header));
    if (typeof this.origin !== 'string') this.origin = [...this.origin, 'nothing'];
  }

  /** Takes no turn any more; returns what another shard takes the lanes over with. Precondition: it is temporary. */
  handOver(): ShardOrigin {
    this.end();
    for (const stage of this.stages) stage.isServedHere = false;
    if (this.stages.some(({ length }) => length > 0)) this.events.news(); // for a turn that publishes them
    if (this.built === undefined) return this.origin;
    try {
      return this.built.shard.lanes.map((lane) => lane.handOver());
    } catch {
      return 'tables'; // no memory for a journal: all that is lost is the order within a tick
    }
  }

  async stop(): Promise<void> {
    this.end();
  }

  private end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  /** Whether a client has a command, or has ever asked for an answer. */
  private isAsked(): boolean {
    return (
      this.stages.some(({ length }) => length > 0) || this.headers.some((header) => Atomics.load(header, REQUEST) !== 0)
    );
  }

  private build(): BuiltShard {
    const { cause, setup } = this;
    const built = buildShard(setup, this.origin, this.buildOptions());
    this.control = new ShardControl(built.shard);
    this.built = built;
    this.origin = 'tables'; // should it ever be built again
    this.cause = undefined;
    if (cause !== undefined) {
      const deaths = this.deathsSinceServed;
      this.deathsSinceServed = 0;
      this.events.restarted({ shard: setup.number, cause, rescheduled: built.rescheduled, deaths });
    }
    return built;
  }

  private readonly news = (): void => this.events.news();

  private buildOptions(): BuildOptions {
    const { isTemporary, news, stages } = this;
    return { news, stages, isTemporary };
  }

  /** Returns whether there is more to do at once. */
  private turn({ shard, clock }: BuiltShard): boolean {
    const begun = clock.exact();
    const isMore = shard.turn() || shard.hasNews(); // a request is noted at the beginning of a round, not in its midst
    this.busy += clock.refresh() - begun;
    return isMore;
  }

  /** Wakes at its next event. */
  private sleep(): void {
    const { shard, clock, scale } = this.built as BuiltShard;
    const next = shard.nextEvent();
    if (next === this.timerFor || clock.memory.manual) return;
    clearTimeout(this.timer);
    this.timerFor = Number.POSITIVE_INFINITY;
    if (next === Number.POSITIVE_INFINITY) return;
    // Native timers fire up to 1 ms early: the turn then finds nothing due and parks for the rest.
    const delay = Math.max(1, Math.min(Math.ceil(scale.timeOf(next) - clock.exact()), LONGEST_TIMEOUT));
    try {
      this.setTimer(this.wake, delay);
      this.timerFor = next;
    } catch {
      this.events.news(); // with the client's next turn it is tried again
    }
  }

  private readonly wake = (): void => {
    this.timerFor = Number.POSITIVE_INFINITY;
    this.isPausing = false;
    this.events.woken();
  };

  private fail(cause: Error): void {
    this.built = undefined; // nobody knows how far it has come
    this.control = undefined;
    this.cause = cause;
    this.deaths += 1;
    this.deathsSinceServed += 1;
    clearTimeout(this.timer);
    this.timerFor = Number.POSITIVE_INFINITY;
    this.isPausing = false;
    if (this.isOver) return;
    try {
      this.setTimer(this.wake, Math.max(1, this.policy.pauseAfterDeath(monotonic.now())));
      this.isPausing = true;
    } catch {
      this.events.news(); // without a pause, then
    }
    this.events.failed(new ShardFailedError(this.setup.number, cause));
  }

  private setTimer(callback: () => void, delay: number): void {
    outsideContexts(() => {
      this.timer = setTimeout(callback, delay).unref();
    });
  }
}

/** Whether a shard has taken all commands, and has fired all that is due by a tick. */
const isDone = (shard: Shard, tick: number): boolean =>
  shard.nextEvent() > tick && !shard.hasNews() && !shard.lanes.some((lane) => lane.isBlocked());
