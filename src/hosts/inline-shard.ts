import { ShardFailedError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import { REQUEST } from '../lane/lane-memory.ts';
import {
  type BuiltShard,
  buildShard,
  type LaneOrigin,
  type LaneSetup,
  type ShardSetup,
  serveLane,
} from '../shard/build-shard.ts';
import { type LaneWheels, wheelOf } from '../shard/lane-wheel.ts';
import type { Shard, ShardCounters } from '../shard/shard.ts';
import { clockOrigin, MonotonicClock } from '../time/monotonic-clock.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { RestartPolicy, type ShardRestart } from './restart-policy.ts';

const monotonic = new MonotonicClock(clockOrigin());

export interface InlineEvents {
  /** Called when the client has something to read, or the shard more to do. */
  wakeClient(): void;
  /** Asks for a turn of the client by a time, in ms on the scheduler's clock. */
  turnBy(time: number): void;
  /** Called when it has failed; it tries again. */
  failed(error: ShardFailedError): void;
  /** Called when it has replaced a shard that died. */
  restarted(restart: ShardRestart): void;
}

/** A lane of the client. */
export interface OwnLane {
  readonly placement: number;
  readonly setup: LaneSetup;
  /** The client's stage. */
  readonly stage: CommandStage;
}

/** The parts of an inline shard. */
export interface InlineParts {
  readonly setup: ShardSetup;
  readonly lanes: readonly OwnLane[];
  readonly events: InlineEvents;
}

/** What it follows. */
export interface Predecessor {
  /** By lane. */
  readonly origin: readonly LaneOrigin[];
  /** Set if threads have died, with their number since the shard was last served. */
  readonly cause: Error | undefined;
  readonly deaths: number;
}

/** The calls that a shard answers wherever it is: see `LaneServer`. */
const calls = {
  stats: (shard: Shard): ShardCounters[] => shard.counters(),
  wheels: (shard: Shard): LaneWheels[] => shard.lanes.map((lane) => wheelOf(lane)),
  earliestDueTick: (shard: Shard): number => Math.min(...shard.lanes.map((lane) => lane.earliestDueTick(shard.tick()))),
};
export type InlineCalls = typeof calls;
export type InlineCall = keyof InlineCalls;

/**
 * A shard that runs in the caller's thread: the same turns, driven by the client's turns, which it asks for in place of
 * parking. The index takes commands directly from the client's stage. It starts no thread, and builds nothing until there are
 * timers.
 *
 * It is the last resort of a shard, so nothing ends it. If a turn or the building throws (above all when memory is refused), that
 * is reported, and the shard is rebuilt from the tables, after longer and longer pauses. As with a thread that dies, no timer is
 * lost.
 */
export class InlineShard {
  /** ms of this thread that turns have taken. */
  busy = 0;
  private readonly setup: ShardSetup;
  private readonly lanes: OwnLane[];
  private readonly events: InlineEvents;
  private readonly clock: SharedClock;
  private readonly headers: Int32Array[];
  private readonly policy = new RestartPolicy({ deaths: Number.POSITIVE_INFINITY, within: 10_000 });
  /** From which it is built, by lane. */
  private origin: LaneOrigin[];
  /** Why it has to be built; undefined once it is built. */
  private cause: Error | undefined;
  private deathsSinceServed: number;
  private built: BuiltShard | undefined;
  /** After a failure it pauses until this time, in ms of the process. */
  private pausesUntil = Number.NEGATIVE_INFINITY;
  private isOver = false;

  /** Does nothing before the first publication. */
  constructor({ setup, lanes, events }: InlineParts, before: Predecessor) {
    this.setup = setup;
    this.lanes = [...lanes];
    this.events = events;
    this.clock = new SharedClock(setup.clock);
    this.origin = [...before.origin];
    this.cause = before.cause;
    this.deathsSinceServed = before.deaths;
    this.headers = lanes.map(headerOf);
    for (const { stage } of lanes) stage.isServedHere = true;
  }

  afterPublish(): void {
    if (this.isOver || this.isPausing()) return;
    if (this.built === undefined && this.isUntouched() && !this.isAsked()) return;
    let isMore: boolean;
    try {
      isMore = this.turn(this.built ?? this.build());
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.isOver) return; // closed by a listener of a restart
    if (isMore) this.events.wakeClient();
    else this.sleep();
  }

  catchUp(): void {
    if (this.built === undefined || !isDone(this.built)) this.afterPublish();
  }

  async call<C extends InlineCall>(name: C): Promise<ReturnType<InlineCalls[C]>> {
    try {
      return calls[name]((this.built ?? this.build()).shard) as ReturnType<InlineCalls[C]>;
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
  admit(lane: OwnLane): void {
    if (this.built !== undefined) this.built.shard.admit(this.serve(this.built, lane, 'nothing').lane);
    this.lanes.push(lane);
    this.origin.push(this.built === undefined ? 'nothing' : 'tables'); // by when it is rebuilt, it has had timers
    lane.stage.isServedHere = true;
    this.headers.push(headerOf(lane));
  }

  /** Whether no command is staged for it. */
  get isCalm(): boolean {
    return this.built === undefined || this.lanes.every(({ stage }) => stage.length === 0);
  }

  /** Stops taking turns; returns what another shard needs to take the lanes over. Precondition: it is calm. */
  handOver(): readonly LaneOrigin[] {
    this.stop();
    for (const { stage } of this.lanes) stage.isServedHere = false;
    if (this.built === undefined) return this.origin;
    try {
      return this.built.shard.lanes.map((lane) => lane.handOver());
    } catch {
      return this.lanes.map(() => 'tables'); // no memory for the entries: only the order within a tick is lost
    }
  }

  stop(): void {
    this.isOver = true;
  }

  private isUntouched(): boolean {
    return this.origin.every((origin) => origin === 'nothing');
  }

  /** Whether a client has a command, or has ever asked for an answer. */
  private isAsked(): boolean {
    for (const { stage } of this.lanes) if (stage.length > 0) return true;
    for (const header of this.headers) if (Atomics.load(header, REQUEST) !== 0) return true;
    return false;
  }

  private build(): BuiltShard {
    const { cause, lanes, origin, setup } = this;
    // If this fails half-way, a lane may have taken what only its table has then.
    this.origin = origin.map((from) => (from === 'nothing' ? from : 'tables'));
    const built = buildShard(setup);
    let rescheduled = 0;
    for (const [at, lane] of lanes.entries()) {
      const served = this.serve(built, lane, origin[at]);
      rescheduled += served.found;
      built.shard.admit(served.lane);
    }
    this.built = built;
    this.origin = lanes.map(() => 'tables'); // in case it is ever rebuilt
    this.cause = undefined;
    if (cause !== undefined) {
      const deaths = this.deathsSinceServed;
      this.deathsSinceServed = 0;
      this.events.restarted({ shard: setup.number, cause, rescheduled, deaths });
    }
    return built;
  }

  private serve(built: BuiltShard, { setup, stage }: OwnLane, origin: LaneOrigin) {
    return serveLane(built, setup, origin, { onFired: this.onFired, stage });
  }

  private readonly onFired = (): void => this.events.wakeClient();

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
    this.cause = cause;
    this.deathsSinceServed += 1;
    if (this.isOver) return;
    this.pausesUntil = monotonic.now() + Math.max(1, this.policy.pauseAfterDeath());
    this.isPausing();
    this.events.failed(new ShardFailedError(this.setup.number, cause));
  }
}

const headerOf = ({ setup }: OwnLane): Int32Array => new Int32Array(setup.memory.header);

/** Whether a shard has taken all commands, and has fired all timers that are due. */
const isDone = ({ shard, scale, clock }: BuiltShard): boolean =>
  shard.nextEvent() > scale.tickAtOrBefore(clock.exact()) &&
  !shard.hasNews() &&
  !shard.lanes.some((lane) => lane.isBlocked());
