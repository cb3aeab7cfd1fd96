import type { ShardHere } from '../client/shard-here.ts';
import { AllocationError } from '../errors.ts';
import { REQUEST } from '../lane/lane-memory.ts';
import { buildShard, type ShardSetup } from '../shard/build-shard.ts';
import { LaneServer, type OfferedLane } from '../shard/lane-server.ts';
import { OWNER } from '../sharing/board.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { HostAnswer, HostCall } from './lane-link.ts';
import { entriesOf, type InlineLane, type OwnLane } from './lane-origins.ts';
import { ENDLESS, monotonic, RestartPolicy } from './restart-policy.ts';

// Taken once: a program may replace them.
const { min } = Math;

/**
 * ms after which memory for an index is asked for again that was refused: while it is, a turn reads the timer table
 * instead.
 */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

export interface InlineEvents {
  /** Called when it has failed; it tries again. */
  failed(cause: Error): void;
  /** Called when it has been built, with the number of live timers that it has found. */
  built(found: number): void;
  /** Called within a turn, once `awaitCalm` was called and nothing is staged. */
  calm(): void;
}

/**
 * A shard that runs in the caller's thread: the same turns, each a part of one of the client's. The index takes
 * commands directly from the client's stage. It starts no thread, and builds nothing until there are timers.
 *
 * It is the last resort of a shard, so nothing ends it. If a turn or the building throws (above all when memory is
 * refused), that is reported, and the shard is rebuilt from the tables, after longer and longer pauses. As with a
 * thread that dies, no timer is lost.
 */
export class InlineShard implements ShardHere {
  /** ms of this thread that turns have taken, if they are measured: that costs a reading of the clock in each. */
  busy = 0;
  isMeasured = false;
  private readonly setup: ShardSetup;
  private readonly events: InlineEvents;
  private readonly lanes: (InlineLane & { readonly header: Int32Array })[] = [];
  private readonly clock: SharedClock;
  private readonly scale: TickScale;
  private readonly policy = new RestartPolicy(ENDLESS);
  /** Undefined until it is built. */
  private server: LaneServer | undefined;
  /** After a failure it pauses until this time, in ms of the process. */
  private pausesUntil = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  /**
   * Whether it reads the timer tables: its indexes were refused memory, when they were made or when they went on. One
   * that can be made and cannot go on would be made again for ever.
   */
  private scans = false;
  /** When it tries again to get the memory for its indexes, in ms of the process; Infinity if it has it. */
  private triesAgainAt = Number.POSITIVE_INFINITY;
  private tries = 0;
  /** When it was built with its indexes, in ms of the process; Infinity while it scans. */
  private indexedAt = Number.POSITIVE_INFINITY;
  private awaitsCalm = false;
  private isOver = false;

  /** Does nothing before the first turn for which there is something. */
  constructor(setup: ShardSetup, events: InlineEvents, lanes: readonly InlineLane[]) {
    this.setup = setup;
    this.events = events;
    this.clock = new SharedClock(setup.clock);
    this.scale = new TickScale(setup.tick);
    for (const lane of lanes) this.add(lane);
  }

  turn(tick: number): boolean {
    if (this.isOver || (this.hasFailed && this.isPausing())) return false;
    if (this.triesAgainAt !== Number.POSITIVE_INFINITY && this.triesAgainAt <= monotonic.now()) {
      this.scans = false;
      this.triesAgainAt = Number.POSITIVE_INFINITY;
      this.rebuild();
    }
    if (this.server === undefined && !this.isNeeded()) return false;
    let isMore = false;
    const begun = this.isMeasured ? this.clock.read() : 0;
    try {
      isMore = (this.server ?? this.build()).built.shard.turnAt(tick);
    } catch (error) {
      this.fail(error as Error);
    }
    if (this.isMeasured) this.busy += this.clock.read() - begun;
    if (!this.awaitsCalm) return isMore;
    if (!this.isCalm()) {
      this.awaitCalm(); // for what has been staged while a long round lasted
      return true;
    }
    this.awaitsCalm = false;
    this.events.calm();
    return isMore;
  }

  nextTurn(): number {
    if (this.isOver) return Number.POSITIVE_INFINITY;
    if (this.server === undefined)
      return this.hasFailed && this.isNeeded() ? this.pauseEnd() : Number.POSITIVE_INFINITY;
    if (this.clock.memory.manual) return Number.POSITIVE_INFINITY; // whoever moves the clock asks
    let next = Number.POSITIVE_INFINITY;
    try {
      for (const lane of this.server.built.shard.lanes) next = min(next, lane.nextEvent());
    } catch (error) {
      this.fail(error as Error); // no memory to file one anew that is due later
      return this.pauseEnd();
    }
    return next === Number.POSITIVE_INFINITY ? next : this.scale.timeOf(next);
  }

  /**
   * Answers after a turn that wants all that is staged: what has come due since the last one would else pass some of it
   * by.
   */
  async call<C extends HostCall>(name: C): Promise<HostAnswer<C>> {
    this.wantStaged();
    try {
      const server = this.server ?? this.build();
      server.built.shard.turn();
      return server[name](OWNER) as HostAnswer<C>; // all lanes are this client's
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Serves another lane, which has had no timer yet. Throws AllocationError. */
  admit(lane: OwnLane): void {
    if (this.server !== undefined) this.attach(this.server, [{ ...lane, origin: 'nothing' }]);
    // by when it is rebuilt, it has had timers
    this.add({ ...lane, origin: this.server === undefined ? 'nothing' : 'tables' });
  }

  /** What has been built is built anew, from the tables, in the next turn: one of them has moved. */
  rebuild(): void {
    this.server = undefined;
  }

  /** Has `calm` called in the first turn that leaves nothing staged. */
  awaitCalm(): void {
    this.awaitsCalm = true;
    this.wantStaged();
  }

  /** Stops taking turns; returns the lanes for another shard to take over. Precondition: `calm` was called. */
  handOver(): OfferedLane[] {
    this.stop();
    const returned = this.server?.handOver(OWNER);
    return this.lanes.map((lane) => {
      const { placement, setup, stage } = lane;
      stage.isServedHere = false;
      // Without memory for the entries, only the order within a tick is lost.
      return { placement, setup, origin: returned === undefined ? lane.origin : entriesOf(lane, returned) };
    });
  }

  stop(): void {
    this.isOver = true;
  }

  /** Whether no command is staged for an index that it has. */
  isCalm(): boolean {
    return this.server === undefined || this.lanes.every(({ stage }) => stage.length === 0);
  }

  private wantStaged(): void {
    for (const { stage } of this.lanes) stage.isWanted = true;
  }

  private add(lane: InlineLane): void {
    this.lanes.push({ ...lane, header: new Int32Array(lane.setup.memory.header) });
    lane.stage.isServedHere = true;
  }

  /** Whether a lane has timers, as far as is known, or is asked for something. */
  private isNeeded(): boolean {
    return this.lanes.some(({ origin }) => origin !== 'nothing') || this.isAsked();
  }

  /**
   * When its pause ends, in ms, even if that has passed since this turn looked. With a manual clock, so many ms after
   * its present.
   */
  private pauseEnd(): number {
    return this.clock.read() + Math.max(0, this.pausesUntil - monotonic.now());
  }

  /** Whether the client wants a command to be filed, or has ever asked for an answer. */
  private isAsked(): boolean {
    return this.lanes.some(
      ({ header, stage }) => (stage.isWanted && stage.length > 0) || Atomics.load(header, REQUEST) !== 0,
    );
  }

  private build(): LaneServer {
    const offered = this.lanes.map((lane) => ({ ...lane }));
    // If this fails half-way, a lane may have taken what only its table has then.
    for (const lane of this.lanes) if (lane.origin !== 'nothing') lane.origin = 'tables';
    const server = new LaneServer(buildShard(this.setup, this.scans));
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
      lanes.map(({ stage, ...lane }) => ({ ...lane, local: { stage } })),
    );
    if (found instanceof Error) throw found;
    if (server.isScanning) this.scanFor();
    else this.indexedAt = monotonic.now();
    return found;
  }

  /** Reads the tables for a while; the longer, the less its indexes have lasted. */
  private scanFor(): void {
    this.scans = true;
    if (this.triesAgainAt !== Number.POSITIVE_INFINITY) return;
    const now = monotonic.now();
    if (now - this.indexedAt > MAX_PAUSE_MS) this.tries = 0;
    this.indexedAt = Number.POSITIVE_INFINITY;
    this.triesAgainAt = now + min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.tries);
    this.tries += 1;
  }

  private isPausing(): boolean {
    return this.pausesUntil > monotonic.now();
  }

  private fail(cause: Error): void {
    this.rebuild(); // its state is unknown
    if (cause instanceof AllocationError) this.scanFor();
    this.hasFailed = true;
    if (this.isOver) return;
    this.pausesUntil = monotonic.now() + Math.max(1, this.policy.pauseAfterDeath());
    this.events.failed(cause);
  }
}
