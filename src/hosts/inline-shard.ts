import type { CommandStage } from '../lane/command-stage.ts';
import { REQUEST } from '../lane/lane-memory.ts';
import { type BuiltShard, buildShard, type LaneOrigin, type LaneSetup, type ShardSetup } from '../shard/build-shard.ts';
import { LaneServer, type OfferedLane } from '../shard/lane-server.ts';
import { OWNER } from '../sharing/board.ts';
import { SharedClock } from '../time/shared-clock.ts';
import type { HostAnswer, HostCall } from './lane-link.ts';
import { ENDLESS, monotonic, RestartPolicy } from './restart-policy.ts';

export interface InlineEvents {
  /** Called when the client has something to read, or the shard more to do. */
  wakeClient(): void;
  /** Asks for a turn of the client by a time, in ms on the scheduler's clock. */
  turnBy(time: number): void;
  /** Called when it has failed; it tries again. */
  failed(cause: Error): void;
  /** Called when it has been built, with the number of live timers that it has found. */
  built(found: number): void;
}

export interface OwnLane {
  readonly placement: number;
  readonly setup: LaneSetup;
  /** The client's stage. */
  readonly stage: CommandStage;
}

/** The same, with what its index is built from. */
export interface InlineLane extends OwnLane {
  origin: LaneOrigin;
}

/**
 * A shard that runs in the caller's thread: the same turns, driven by the client's turns, which it asks for in place of parking.
 * The index takes commands directly from the client's stage. It starts no thread, and builds nothing until there are timers.
 *
 * It is the last resort of a shard, so nothing ends it. If a turn or the building throws (above all when memory is refused), that
 * is reported, and the shard is rebuilt from the tables, after longer and longer pauses. As with a thread that dies, no timer is
 * lost.
 */
export class InlineShard {
  /** ms of this thread that turns have taken. */
  busy = 0;
  private readonly setup: ShardSetup;
  private readonly events: InlineEvents;
  private readonly lanes: (InlineLane & { readonly header: Int32Array })[] = [];
  private readonly clock: SharedClock;
  private readonly policy = new RestartPolicy(ENDLESS);
  /** Undefined until it is built. */
  private server: LaneServer | undefined;
  /** After a failure it pauses until this time, in ms of the process. */
  private pausesUntil = Number.NEGATIVE_INFINITY;
  private isOver = false;

  /** Does nothing before the first publication. */
  constructor(setup: ShardSetup, events: InlineEvents, lanes: readonly InlineLane[]) {
    this.setup = setup;
    this.events = events;
    this.clock = new SharedClock(setup.clock);
    for (const lane of lanes) this.add(lane);
  }

  afterPublish(): void {
    if (this.isOver || this.isPausing()) return;
    if (this.server === undefined && this.isUntouched() && !this.isAsked()) return;
    let isMore: boolean;
    try {
      isMore = this.turn((this.server ?? this.build()).built);
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.isOver) return; // closed by a listener of a restart
    if (isMore) this.events.wakeClient();
    else this.sleep();
  }

  catchUp(): void {
    if (this.server === undefined || !isDone(this.server.built)) this.afterPublish();
  }

  async call<C extends HostCall>(name: C): Promise<HostAnswer<C>> {
    try {
      return (this.server ?? this.build())[name](OWNER) as HostAnswer<C>; // all lanes are this client's
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
  admit(lane: OwnLane): void {
    if (this.server !== undefined) this.attach(this.server, [{ ...lane, origin: 'nothing' }]);
    this.add({ ...lane, origin: this.server === undefined ? 'nothing' : 'tables' }); // by when it is rebuilt, it has had timers
  }

  /** Whether no command is staged for it. */
  get isCalm(): boolean {
    return this.server === undefined || !this.isStaged();
  }

  /** Stops taking turns; returns the lanes for another shard to take over. Precondition: it is calm. */
  handOver(): OfferedLane[] {
    this.stop();
    const left = this.server?.leave(OWNER);
    return this.lanes.map(({ placement, setup, stage, origin }, at) => {
      stage.isServedHere = false;
      // Without memory for the entries, only the order within a tick is lost.
      return { placement, setup, origin: left === undefined ? origin : (left[at].entries ?? 'tables') };
    });
  }

  stop(): void {
    this.isOver = true;
  }

  private add(lane: InlineLane): void {
    this.lanes.push({ ...lane, header: new Int32Array(lane.setup.memory.header) });
    lane.stage.isServedHere = true;
  }

  private isUntouched(): boolean {
    return this.lanes.every(({ origin }) => origin === 'nothing');
  }

  /** Whether a client has a command, or has ever asked for an answer. */
  private isAsked(): boolean {
    return this.isStaged() || this.lanes.some(({ header }) => Atomics.load(header, REQUEST) !== 0);
  }

  private isStaged(): boolean {
    return this.lanes.some(({ stage }) => stage.length > 0);
  }

  private build(): LaneServer {
    const offered = this.lanes.map((lane) => ({ ...lane }));
    // If this fails half-way, a lane may have taken what only its table has then.
    for (const lane of this.lanes) if (lane.origin !== 'nothing') lane.origin = 'tables';
    const server = new LaneServer(buildShard(this.setup));
    const found = this.attach(server, offered);
    this.server = server;
    for (const lane of this.lanes) lane.origin = 'tables'; // in case it is ever rebuilt
    this.events.built(found);
    return server;
  }

  /** Returns the number of live timers found. */
  private attach(server: LaneServer, lanes: readonly InlineLane[]): number {
    const found = server.attach(
      OWNER,
      lanes.map(({ stage, ...lane }) => ({ ...lane, local: { onFired: this.onFired, stage } })),
    );
    if (found instanceof Error) throw found;
    return found;
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
    const { shard, clock, scale } = (this.server as LaneServer).built;
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
    this.server = undefined; // its state is unknown
    if (this.isOver) return;
    this.pausesUntil = monotonic.now() + Math.max(1, this.policy.pauseAfterDeath());
    this.isPausing();
    this.events.failed(cause);
  }
}

/** Whether a shard has taken all commands, and has fired all timers that are due. */
const isDone = ({ shard, scale, clock }: BuiltShard): boolean =>
  shard.nextEvent() > scale.tickAtOrBefore(clock.exact()) &&
  !shard.hasNews() &&
  !shard.lanes.some((lane) => lane.isBlocked());
