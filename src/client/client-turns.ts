import type { ClientBell } from '../lane/doorbell.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { Delivery } from './delivery.ts';
import type { HomeTimers } from './home/home-timers.ts';
import type { KeepAlive } from './keep-alive.ts';
import type { Walk } from './quiescence.ts';
import type { ShardHere } from './shard-here.ts';
import { type ClientTurn, TurnClock } from './turn-clock.ts';

// Taken once: a program may replace them.
const { min } = Math;

/**
 * ms before a due time by which the command for it is published to a thread, which has to file it and to wake in time.
 */
const LEAD_MS = 4;

/**
 * A turn publishes what is due within so many ms: to wake for that again would cost more than may be saved if it is
 * cancelled.
 */
const PUBLISH_WITHIN_MS = 64;

/** ms within which what an ended timer carried is released. */
const RELEASE_WITHIN_MS = 1000;

/** The parts of a client that its turns work on. */
export interface TurnParts {
  /** In the order of their first use. */
  readonly lanes: readonly ClientLane[];
  readonly time: ClientTime;
  readonly bell: ClientBell;
  readonly refs: KeepAlive;
  readonly delivery: Delivery;
  readonly home: HomeTimers;
  /** Called at the end of each turn, if anything is to be. */
  readonly turned: (() => void) | undefined;
}

/**
 * What a client does in its turns, and when somebody needs one.
 *
 *     read the clock ─▶ file, or publish, what is staged ─▶ shards of this thread fire ─▶ deliver, at most maxBatch
 *                    ─▶ run due drop-in timers ─▶ say when the next turn has to come
 *
 * **Commands wait until somebody needs them**: until the earliest of them is due (LEAD_MS earlier if a thread has to
 * file it), a stage is full, or `publish` is called. A timer that ends before is never filed. `time.stagedBy` is that
 * earliest due time.
 *
 * Ends ask for no turn of their own: what a timer carried is released by the next turn, and within RELEASE_WITHIN_MS
 * however idle the loop.
 */
export class ClientTurns implements ClientTurn {
  readonly clock: TurnClock;
  readonly delivery: Delivery;
  readonly home: HomeTimers;
  /** Whether the present turn visits the lanes: they have something. */
  visitsLanes = false;
  /** Set while a manual clock goes from due time to due time. */
  walk: Walk | undefined = undefined;
  /** Whether a timer may have ended since the last turn, and its payload is held. */
  holdsPayload = false;
  private readonly lanes: readonly ClientLane[];
  private readonly time: ClientTime;
  private readonly bell: ClientBell;
  private readonly refs: KeepAlive;
  private readonly turned: (() => void) | undefined;
  /** The shards in this thread. The array is replaced, not changed: a turn may be going through it. */
  private shardsHere: readonly ShardHere[] = [];
  /** Whether a lane is with a thread, or on its way there. */
  private isElsewhere = false;
  /** When a shard of this thread needs a turn, in ms, as it was at the end of the last that visited the lanes. */
  private nextEvent = Number.NEGATIVE_INFINITY;

  constructor({ lanes, time, bell, refs, delivery, home, turned }: TurnParts) {
    this.lanes = lanes;
    this.time = time;
    this.bell = bell;
    this.refs = refs;
    this.delivery = delivery;
    this.home = home;
    this.turned = turned;
    this.clock = new TurnClock(this, time, refs);
  }

  // Who needs a turn.

  /**
   * Called when a command has been staged with an earlier deadline than all others: makes sure that a turn comes in
   * time for it.
   */
  stagedEarlier({ stage }: ClientLane, deadline: number, slack: number): void {
    const { clock, time } = this;
    const due = time.scale.timeOf(time.dueTickOf(deadline, slack));
    if (due >= time.stagedBy) return;
    time.stagedBy = due;
    if (time.isManual) return; // whoever moves the clock asks
    if (stage.isServedHere) clock.by(due);
    else if (due - LEAD_MS <= time.clock.read()) clock.now();
    else clock.by(due - LEAD_MS);
  }

  /** Called when a stage that is served in this thread is full. */
  readonly stageIsFull = (): void => {
    this.time.stagedBy = Number.NEGATIVE_INFINITY;
    this.clock.now();
  };

  /** Called at the first end since the last turn: however idle the loop, what the timer carried is released soon. */
  releaseLater(): void {
    this.holdsPayload = true;
    this.clock.by(this.time.clock.read() + RELEASE_WITHIN_MS);
  }

  /**
   * Lets the shards know all commands: threads as far as their rings have room, shards of this thread in the turn that
   * comes now.
   */
  publish(): void {
    this.wantStaged();
    this.publishElsewhere(true);
    this.clock.now();
  }

  // Where the lanes are.

  /** The client's turns are also this shard's. */
  serveHere(shard: ShardHere): void {
    this.shardsHere = [...this.shardsHere, shard];
    this.noteWhere();
  }

  leaveHere(shard: ShardHere): void {
    this.shardsHere = this.shardsHere.filter((each) => each !== shard);
    // it may have been about to file what is staged: the next turn publishes that
    this.time.stagedBy = Number.NEGATIVE_INFINITY;
    this.noteWhere();
  }

  /** Called when a lane has been opened, or has changed hands. */
  noteWhere(): void {
    this.isElsewhere = this.lanes.some(({ stage }) => !stage.isServedHere);
    this.nextEvent = Number.NEGATIVE_INFINITY;
  }

  // A turn.

  /** `isOfWalk`: a part of a turn of a walk. */
  begin(isAsked: boolean, isOfWalk = false): boolean {
    const { isElsewhere, time, walk } = this;
    if (walk !== undefined && !isOfWalk) return this.beginWalking(walk);
    time.beginTurn();
    const isWanted = time.stagedBy <= (isElsewhere ? time.now + LEAD_MS : time.now);
    this.visitsLanes = isAsked || isWanted || isElsewhere || this.nextEvent <= time.now || time.isManual;
    if (!this.visitsLanes) return false; // a drop-in timer has brought the turn
    if (isElsewhere) this.bell.lower(); // before the lanes are read
    if (isWanted) this.wantStaged();
    if (isElsewhere) this.publishElsewhere(isWanted);
    let isMore = false;
    for (const shard of this.shardsHere) if (shard.turn(time.tick)) isMore = true;
    return isMore;
  }

  private beginWalking(walk: Walk): boolean {
    walk.prepare();
    return this.begin(true, true) || (this.walk === walk && walk.step() && this.begin(true, true));
  }

  beginPhase(): void {
    this.time.beginTurn();
    this.visitsLanes = false;
  }

  finish(): number {
    const { home, isElsewhere, refs, time } = this;
    if (this.delivery.endTurn()) time.readAgain();
    if (isElsewhere && time.stagedBy <= time.now + PUBLISH_WITHIN_MS) this.publishSoon();
    this.turned?.(); // a listener may end timers
    let live = home.label.size;
    for (const lane of this.lanes) {
      live += lane.table.size;
      if (lane.peak !== lane.table.size || lane.putOff.size > 0) lane.release();
    }
    this.holdsPayload = false;
    if (live > refs.unrefCount !== refs.keepsAlive) refs.updateRef();
    if (this.visitsLanes) {
      this.nextEvent = Number.POSITIVE_INFINITY;
      for (const shard of this.shardsHere) this.nextEvent = min(this.nextEvent, shard.nextTurn());
    }
    if (time.isManual) return this.nextEvent; // whoever moves the clock asks, but for the end of a pause
    const next = min(this.nextEvent, isElsewhere ? time.stagedBy - LEAD_MS : time.stagedBy);
    return home.label.size > 0 ? min(next, home.wheel.nextTurn()) : next;
  }

  /** Publishes to threads before it has to be. What shards of this thread are to file still waits until it is due. */
  private publishSoon(): void {
    this.publishElsewhere(true);
    const isLeft = this.lanes.some(({ stage }) => stage.isServedHere && stage.length > 0);
    if (!isLeft) this.time.stagedBy = Number.POSITIVE_INFINITY;
  }

  /** From now on nothing that is staged waits: shards of this thread file it in their next turn. */
  private wantStaged(): void {
    this.time.stagedBy = Number.POSITIVE_INFINITY;
    for (const { stage } of this.lanes) stage.isWanted = true;
  }

  /** Publishes to threads what is wanted, and what waits for room in a ring. */
  private publishElsewhere(isWanted: boolean): void {
    for (const { commands, stage } of this.lanes) {
      if (!stage.isServedHere && (isWanted || commands.wantsRoom)) commands.publish();
    }
  }
}
