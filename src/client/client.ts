import { currentContext, outsideContexts } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { wordOf } from '../lane/due-word.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { TimerId } from '../timer-id.ts';
import { requireDeadline } from './arguments.ts';
import type { CallSites } from './call-sites.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientParts } from './client-parts.ts';
import type { ClientTime } from './client-time.ts';
import { Delivery } from './delivery.ts';
import { HomeTimers } from './home-timers.ts';
import { LabelRegistry } from './label-registry.ts';
import { placementOf, placementOfInteger, type WorkerHint } from './placement.ts';
import { refusal, requireRoom } from './refusal.ts';
import { Settling } from './settling.ts';
import { TimerHold } from './timer-hold.ts';
import { IDLE, TurnClock } from './turn-clock.ts';

/**
 * A thread that schedules, and all of its timers. Public calls start timers by hint and know them by id; the package itself uses
 * lane and slot. A single call changes the table of a lane and stages a command. All else is done in turns, which `TurnClock`
 * brings:
 *
 *     deliver fired timers, at most maxBatch → run due drop-in timers → publish commands
 *
 * `schedule` starts every timer of a lane, and counts it, whatever the caller. Drop-in timers live in `home`.
 */
export class Client {
  isClosed = false;
  scheduled = 0;
  rescheduled = 0;
  private readonly keepsContexts: boolean;
  /** By placement. */
  private readonly lanesByPlacement: (ClientLane | undefined)[] = [];
  private readonly openLane: (placement: number) => ClientLane;
  /** The open lanes. */
  readonly lanes: ClientLane[] = [];
  /** Maximum of live timers. */
  readonly capacity: number;
  /** Whether that is less than the lanes together can hold. */
  readonly isLimited: boolean;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  readonly lateness: LatenessHistogram;
  readonly delivery: Delivery;
  readonly settling: Settling;
  readonly turnClock: TurnClock;
  /** Drop-in timers. */
  readonly home: HomeTimers;
  readonly labels = new LabelRegistry();
  /** Set if calls are traced. */
  callSites: CallSites | undefined = undefined;
  // See ClientParts.
  readonly afterPublish: () => void;
  readonly catchUp: () => void;
  readonly time: ClientTime;
  readonly bell: ClientBell;
  /** Whether live timers keep the process alive. */
  readonly hold: TimerHold;
  private readonly laneScale: number;

  constructor(parts: ClientParts) {
    const { layout, time, bell, keepAlive, events, maxBatch, keepsContexts } = parts;
    for (let placement = 0; placement < parts.placements; placement++) this.lanesByPlacement.push(undefined);
    this.openLane = parts.openLane;
    const lanesCapacity = parts.placements * parts.laneCapacity;
    this.capacity = Math.min(lanesCapacity, parts.totalCapacity ?? lanesCapacity);
    this.isLimited = this.capacity < lanesCapacity;
    this.clock = time.clock;
    this.scale = time.scale;
    this.time = time;
    this.bell = bell;
    this.hold = new TimerHold(this, keepAlive);
    this.keepsContexts = keepsContexts;
    this.lateness = parts.lateness ?? new LatenessHistogram();
    this.afterPublish = parts.afterPublish;
    this.catchUp = parts.catchUp;
    this.laneScale = 2 ** -(layout.generationBits + layout.slotBits);
    this.delivery = new Delivery(this, events, this.lateness, time, maxBatch);
    this.turnClock = new TurnClock(this, time, keepAlive);
    this.home = new HomeTimers(this, time, parts.laneCapacity, parts.newHomeIndex);
    this.settling = new Settling(this);
    outsideContexts(() => bell.listen(() => this.turnClock.now()));
  }

  // Single calls, by id: the hot paths.

  /**
   * Starts a timer on the shard to which the hint is hashed. Throws InvalidArgumentError for the hint, InvalidDeadlineError,
   * CapacityExceededError.
   */
  start(hint: WorkerHint, deadline: number, callback: unknown, argument: unknown, context?: Context): TimerId {
    const placement = this.shardOf(hint);
    if (this.isLimited === true) requireRoom(this);
    const open = this.lanesByPlacement[placement];
    const lane = open === undefined ? this.open(placement) : open;
    return lane.table.idOf(this.schedule(lane, deadline, callback, argument, context));
  }

  /** Moves a live timer. Returns false if the id is not live. Precondition: the deadline is finite. */
  reschedule(id: TimerId, deadline: number): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    if (lane.labels === undefined) this.move(lane, slot, deadline);
    else lane.labels.move(this, lane, slot, deadline);
    return true;
  }

  /** Cancels a live timer. Returns false if the id is not live. */
  cancel(id: TimerId): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    this.end(lane, slot);
    return true;
  }

  /** The context of this call, in which its timer's callback will run; undefined if there is none, or none is kept. */
  context(): Context {
    return this.keepsContexts === true ? currentContext() : undefined;
  }

  // The same by lane and slot, for the parts of the package that keep slots.

  /** Starts a timer; returns its slot. Throws InvalidDeadlineError, CapacityExceededError. */
  schedule(lane: ClientLane, deadline: number, callback: unknown, argument: unknown, context: Context): number {
    const { table } = lane;
    if (!lane.stage.hasRoom(1)) lane.commands.makeRoom(1); // before any change: it may be refused
    const slot = table.allocate(deadline, this.dueWordOf(deadline));
    if (slot < 0) throw refusal(this, lane);
    lane.begin(slot, table.tagOf(slot), callback, argument, context);
    this.scheduled += 1;
    if (this.callSites !== undefined) this.callSites.count(lane, slot);
    if (this.hold.isHolding === false) this.hold.settle();
    return slot;
  }

  /** Moves a live timer. Throws InvalidDeadlineError. */
  move(lane: ClientLane, slot: number, deadline: number): void {
    const due = this.dueWordOf(deadline);
    lane.move(slot, deadline, due, deadline < this.time.nearEnd);
    this.rescheduled += 1;
  }

  /** Ends a live timer. */
  end(lane: ClientLane, slot: number): void {
    if (this.turnClock.state === IDLE) this.turnClock.hold(); // for a turn that releases the timer's payload
    lane.end(slot);
    if (lane.size <= this.hold.unrefCount) this.hold.settle();
  }

  /** Stages a live timer again if its fired record arrived before it is due, since it was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void {
    lane.restage(slot, lane.table.dueOf(slot)); // later than now, as computed by the move
  }

  /** The due word of a deadline; requests a turn that publishes it in time. Throws InvalidDeadlineError. */
  private dueWordOf(deadline: number): number {
    const { time } = this;
    if (deadline >= time.urgentBefore && deadline < time.fastPathEnd) return Math.ceil(deadline * time.ticksPerMs) | 0;
    return this.anyDueWordOf(deadline) | 0; // V8: words
  }

  private anyDueWordOf(deadline: number): number {
    requireDeadline(deadline);
    const { time } = this;
    const due = time.dueTimeOf(deadline);
    if (due < time.urgentBefore) this.turnClock.requestTurnFor(due);
    return wordOf(time.dueTickOf(deadline));
  }

  /** Returns the lane of a placement, and opens it if necessary. Throws AllocationError if it cannot be opened. */
  laneAt(placement: number): ClientLane {
    return this.lanesByPlacement[placement] ?? this.open(placement);
  }

  private open(placement: number): ClientLane {
    const lane = this.openLane(placement);
    this.lanesByPlacement[placement] = lane;
    this.lanes.push(lane);
    return lane;
  }

  /** The lane that an id names. For anything but an id it may be any lane or none: the lane's table refuses it. */
  private laneOf(id: TimerId): ClientLane | undefined {
    return typeof id === 'number' ? this.lanesByPlacement[(id * this.laneScale) | 0] : undefined;
  }

  /** The shard to which a hint is hashed. Throws InvalidArgumentError. */
  shardOf(hint: WorkerHint): number {
    const shards = this.lanesByPlacement.length;
    return typeof hint === 'number' && (hint | 0) === hint
      ? placementOfInteger(hint, shards)
      : placementOf(hint, shards);
  }

  has(id: TimerId): boolean {
    const lane = this.laneOf(id);
    return lane !== undefined && lane.table.slotOf(id) >= 0;
  }

  /** The deadline of a live timer, ms. */
  deadlineOf(id: TimerId): number | undefined {
    const lane = this.laneOf(id);
    if (lane === undefined) return undefined;
    const slot = lane.table.slotOf(id);
    return slot < 0 ? undefined : lane.table.deadlineOf(slot);
  }

  /** Live timers. */
  get size(): number {
    return this.isClosed ? 0 : this.lanes.reduce((sum, lane) => sum + lane.size, this.home.size);
  }

  /** Names of the handles that keep the process alive for all timers, as `process.getActiveResourcesInfo` lists them. */
  heldResources(): string[] {
    return this.isClosed ? [] : [...this.turnClock.heldResources(), ...this.hold.heldResources()];
  }

  /** Timers cancelled so far: scheduled, and neither live nor delivered. */
  get cancelled(): number {
    const ended = this.scheduled - this.delivery.delivered - this.home.size;
    return this.lanes.reduce((rest, lane) => rest - lane.size, ended);
  }

  // Once per turn.

  finish(): void {
    this.delivery.endTurn();
    this.publish();
    this.home.requestTurn();
    for (const lane of this.lanes) lane.release();
    this.hold.settle();
  }

  becameIdle(): void {
    this.settling.check();
  }

  /** Publishes all commands now. */
  publish(): void {
    for (const lane of this.lanes) lane.commands.publish();
    this.afterPublish();
  }

  /** Publishes all commands. If a ring is full, resolves when it has taken the last of them. */
  async publishAll(): Promise<void> {
    this.publish();
    if (this.lanes.some((lane) => lane.commands.waiting > 0)) await this.settling.settle();
  }

  /** Ends turns and waiting; live timers stay in the tables. */
  close(): void {
    this.isClosed = true;
    this.turnClock.end();
    this.bell.stopListening();
    this.settling.end();
  }
}
