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
import { ShardControl } from '../shard/shard-control.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { RestartPolicy } from './restart-policy.ts';
import type { ControlCall, ShardHost, ShardRestart } from './shard-host.ts';

const monotonic = new MonotonicClock(clockOrigin());

export interface InlineEvents {
  /** Called when the client has something to read, or the shard more to do. */
  news(): void;
  /** Asks for a turn of the client by a time, in ms on the scheduler's clock. */
  turnBy(time: number): void;
  /** Called when it has failed; it tries again. */
  failed(error: ShardFailedError): void;
  /** Called when it has replaced a shard that died. */
  restarted(restart: ShardRestart): void;
}

/** The parts of an inline shard. */
export interface InlineParts {
  readonly setup: ShardSetup;
  /** The stages of the lanes' clients. */
  readonly stages: readonly CommandStage[];
  readonly events: InlineEvents;
}

/** The shard that it replaces. */
export interface Predecessor {
  readonly origin: ShardOrigin;
  /** Set if that one died, with the number of deaths since the shard was last served. */
  readonly cause?: Error;
  readonly deaths?: number;
}

/**
 * A shard that runs in the caller's thread: the same turns, driven by the client's turns, which it asks for in place of
 * parking. The index takes commands directly from the client's stage. It starts no thread, and builds nothing until there are
 * timers.
 *
 * It is the last resort of a shard, so nothing ends it. If a turn or the building throws (above all when memory is refused), that
 * is reported, and the shard is rebuilt from the tables, after longer and longer pauses. As with a thread that dies, no timer is
 * lost.
 */
export class InlineShard implements ShardHost {
  readonly ready = Promise.resolve();
  readonly isInline = true;
  /** Number of its failures. */
  deaths = 0;
  /** ms of this thread that turns have taken. */
  busy = 0;
  private readonly setup: ShardSetup;
  private readonly lanes: LaneSetup[];
  private readonly stages: CommandStage[];
  private readonly events: InlineEvents;
  private readonly clock: SharedClock;
  private readonly isTemporary: boolean;
  private readonly headers: Int32Array[];
  private readonly policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
  /** The origin from which it is built. */
  private origin: ShardOrigin;
  /** Why it has to be built; undefined once it is built. */
  private cause: Error | undefined;
  private deathsSinceServed: number;
  private built: BuiltShard | undefined;
  private control: ShardControl | undefined;
  /** After a failure it pauses until this time, in ms of the process. */
  private pausesUntil = Number.NEGATIVE_INFINITY;
  private isOver = false;

  /** Does nothing before the first publication. If it is temporary, it can hand its lanes over. */
  constructor({ setup, stages, events }: InlineParts, isTemporary: boolean, before: Predecessor) {
    this.lanes = [...setup.lanes];
    this.stages = [...stages];
    this.setup = { ...setup, lanes: this.lanes };
    this.events = events;
    this.clock = new SharedClock(setup.clock);
    this.isTemporary = isTemporary;
    this.origin = before.origin;
    this.cause = before.cause;
    this.deathsSinceServed = before.deaths ?? 0;
    this.headers = this.lanes.map(({ memory }) => new Int32Array(memory.header));
    for (const stage of stages) stage.isServedHere = true;
    new Doorbell(setup.doorbell).awake(); // no ring is needed: it turns whenever the client has published
  }

  afterPublish(): void {
    if (this.isOver || this.isPausing()) return;
    if (this.built === undefined && this.origin === 'nothing' && !this.isAsked()) return;
    let isMore: boolean;
    try {
      isMore = this.turn(this.built ?? this.build());
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.isOver) return; // closed by a listener of a restart
    if (isMore) this.events.news();
    else this.sleep();
  }

  catchUp(): void {
    if (this.built === undefined || !isDone(this.built)) this.afterPublish();
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

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
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

  /** Stops taking turns; returns what another shard needs to take the lanes over. Precondition: it is temporary. */
  handOver(): ShardOrigin {
    this.end();
    for (const stage of this.stages) stage.isServedHere = false;
    if (this.stages.some(({ length }) => length > 0)) this.events.news(); // for a turn that publishes them
    if (this.built === undefined) return this.origin;
    try {
      return this.built.shard.lanes.map((lane) => lane.handOver());
    } catch {
      return 'tables'; // no memory for a journal: only the order within a tick is lost
    }
  }

  async stop(): Promise<void> {
    this.end();
  }

  private end(): void {
    this.isOver = true;
  }

  /** Whether a client has a command, or has ever asked for an answer. */
  private isAsked(): boolean {
    for (const { length } of this.stages) if (length > 0) return true;
    for (const header of this.headers) if (Atomics.load(header, REQUEST) !== 0) return true;
    return false;
  }

  private build(): BuiltShard {
    const { cause, setup } = this;
    const built = buildShard(setup, this.origin, this.buildOptions());
    this.control = new ShardControl(built.shard);
    this.built = built;
    this.origin = 'tables'; // in case it is ever rebuilt
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

  /** Takes a turn. Returns whether there is more to do at once. */
  private turn({ shard, clock }: BuiltShard): boolean {
    const begun = clock.exact();
    const isMore = shard.turn() || shard.hasNews(); // requests are noted only at the beginning of a round
    this.busy += clock.refresh() - begun;
    return isMore;
  }

  /** Asks for the turn of its next event. */
  private sleep(): void {
    const { shard, clock, scale } = this.built as BuiltShard;
    const next = shard.nextEvent();
    if (next !== Number.POSITIVE_INFINITY && !clock.memory.manual) this.events.turnBy(scale.timeOf(next));
  }

  /** Whether it pauses; asks for the turn that ends the pause. */
  private isPausing(): boolean {
    const left = this.pausesUntil - monotonic.now();
    if (left > 0) this.events.turnBy(this.clock.exact() + left);
    return left > 0;
  }

  private fail(cause: Error): void {
    this.built = undefined; // its state is unknown
    this.control = undefined;
    this.cause = cause;
    this.deaths += 1;
    this.deathsSinceServed += 1;
    if (this.isOver) return;
    this.pausesUntil = monotonic.now() + Math.max(1, this.policy.pauseAfterDeath(monotonic.now()));
    this.isPausing();
    this.events.failed(new ShardFailedError(this.setup.number, cause));
  }
}

/** Whether a shard has taken all commands, and has fired all timers that are due. */
const isDone = ({ shard, scale, clock }: BuiltShard): boolean =>
  shard.nextEvent() > scale.tickAtOrBefore(clock.exact()) &&
  !shard.hasNews() &&
  !shard.lanes.some((lane) => lane.isBlocked());
