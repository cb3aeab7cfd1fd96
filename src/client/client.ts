import { requireDeadline } from '../arguments.ts';
import { currentContext, outsideContexts } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { CapacityExceededError } from '../errors.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { wordOf } from '../lane/due-word.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import { awaited, beginWait, type Cancelling, endWait, Waiter } from '../waiter.ts';
import { CallGrids, type Repetition } from './call-grids.ts';
import type { ClientLane } from './client-lane.ts';
import { type ClientTime, LAST_TICK } from './client-time.ts';
import { ClientTurns } from './client-turns.ts';
import { Delivery } from './delivery.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import { HomeTimers } from './home/home-timers.ts';
import type { NewIndex } from './home/home-wheel.ts';
import { KeepAlive } from './keep-alive.ts';
import { LabelRegistry } from './labels/label-registry.ts';
import { type Label, SlotLabels } from './labels/slot-labels.ts';
import { placementOf, placementOfInteger } from './placement.ts';
import { Quiescence } from './quiescence.ts';
import { RepeatingCalls } from './repeating-calls.ts';
import type { TurnClock } from './turn-clock.ts';

// Taken once: a program may replace them.
const { ceil } = Math;

export interface ClientParts {
  /** Number of placements to which hints are hashed; each has a lane. */
  readonly placements: number;
  /** Lays out the lane of a placement at its first use. Throws AllocationError. */
  readonly openLane: (placement: number) => ClientLane;
  /** Maximum of live timers in a lane. */
  readonly laneCapacity: number;
  readonly layout: TimerIdLayout;
  readonly time: ClientTime;
  /** How many ticks timers without a label may come after the tick of their deadlines. */
  readonly slack: number;
  readonly bell: ClientBell;
  readonly events: DeliveryEvents;
  readonly maxBatch: number;
  /** Where latenesses are counted. Default: memory of the client's own. */
  readonly lateness?: LatenessHistogram;
  /** Whether callbacks run in the async context of the call that set their timer. */
  readonly keepsContexts: boolean;
  /** See `SchedulerOptions.ioFirst`, ms. */
  readonly ioFirst: number;
  /** Called at the end of each turn, if anything is to be. */
  readonly turned: (() => void) | undefined;
  /** Makes the wheel of drop-in timers. */
  readonly newHomeIndex: NewIndex;
}

/**
 * A thread that schedules, and all of its timers. Public calls start timers by hint and know them by id; the package
 * itself uses lane and slot. A single call changes the table of a lane and stages a command. All else is done in turns,
 * which come when somebody needs one: see `ClientTurns`.
 *
 * `schedule` starts every timer of a lane, and counts it, whatever the caller. Drop-in timers live in `home`.
 */
export class Client {
  isClosed = false;
  /** Starts and moves of timers on lanes, by calls of the program. */
  started = 0;
  moved = 0;
  /** Live timers that somebody waits for: see `Waiter`. */
  waiters = 0;
  private readonly keepsContexts: boolean;
  /** By placement. */
  private readonly lanesByPlacement: (ClientLane | undefined)[] = [];
  private readonly openLane: (placement: number) => ClientLane;
  readonly lanes: ClientLane[] = [];
  /** Maximum of live timers. */
  readonly capacity: number;
  readonly clock: SharedClock;
  readonly scale: TickScale;
  readonly lateness: LatenessHistogram;
  readonly repeating: RepeatingCalls;
  readonly delivery: Delivery;
  readonly quiescence: Quiescence;
  readonly turns: ClientTurns;
  readonly turnClock: TurnClock;
  /** Drop-in timers. */
  readonly home: HomeTimers;
  readonly registry: LabelRegistry;
  readonly time: ClientTime;
  readonly bell: ClientBell;
  /** Whether live timers keep the process alive. */
  readonly refs: KeepAlive;
  private readonly laneScale: number;

  constructor(parts: ClientParts) {
    const { layout, time, slack, bell, events, maxBatch, keepsContexts } = parts;
    for (let placement = 0; placement < parts.placements; placement++) this.lanesByPlacement.push(undefined);
    this.openLane = parts.openLane;
    this.capacity = parts.placements * parts.laneCapacity;
    this.clock = time.clock;
    this.scale = time.scale;
    this.time = time;
    this.registry = new LabelRegistry(time.scale, slack);
    this.bell = bell;
    this.refs = new KeepAlive(this);
    this.keepsContexts = keepsContexts;
    this.lateness = parts.lateness ?? new LatenessHistogram();
    this.laneScale = 2 ** -(layout.generationBits + layout.slotBits);
    this.repeating = new RepeatingCalls(this);
    const { repeating, lateness } = this;
    this.delivery = new Delivery({ client: this, repeating, events, lateness, time, maxBatch, ioFirst: parts.ioFirst });
    this.home = new HomeTimers(this, time, slack, parts.laneCapacity, parts.newHomeIndex);
    const { lanes, refs, delivery, home } = this;
    this.turns = new ClientTurns({ lanes, time, bell, refs, delivery, home, turned: parts.turned });
    this.turnClock = this.turns.clock;
    this.quiescence = new Quiescence(this);
    outsideContexts(() => bell.listen(() => this.turnClock.now()));
  }

  // Single calls, by id: the hot paths.

  /** Starts a timer on a shard. Throws InvalidDeadlineError, CapacityExceededError, AllocationError. */
  start(label: Label, placement: number, deadline: number, callback: unknown, argument: unknown): TimerId {
    const known = this.lanesByPlacement[placement];
    const lane = known === undefined ? this.open(placement) : known;
    const slot =
      label === this.registry.plain
        ? this.schedule(lane, deadline, label, callback, argument)
        : this.startLabelled(lane, deadline, label, callback, argument);
    if (slot < 0) throw this.refusal(lane);
    const id = lane.table.idOf(slot);
    if (callback === awaited) this.beginWait(argument, id, label);
    return id;
  }

  /** As `schedule`. `full`: the deadline, which a scaled timer gets if its label's factor is 1. */
  private startLabelled(lane: ClientLane, full: number, label: Label, callback: unknown, argument: unknown): number {
    const labels = this.labelsOf(lane, label);
    if (label.min === undefined) {
      const slot = this.schedule(lane, full, label, callback, argument);
      if (slot >= 0) labels.begin(slot, label);
      return slot;
    }
    requireDeadline(full);
    const earliest = this.clock.read() + label.min;
    const slot = this.schedule(lane, label.deadlineOf(earliest, full), label, callback, argument);
    if (slot < 0) return slot;
    labels.begin(slot, label);
    labels.setBounds(slot, earliest, full);
    return slot;
  }

  /** Starts a repeating timer. Throws like `start`. */
  startRepeating(
    label: Label,
    placement: number,
    repetition: Repetition,
    callback: unknown,
    argument: unknown,
  ): TimerId {
    const lane = this.laneAt(placement);
    lane.grids ??= new CallGrids(lane.table);
    lane.grids.reserve(lane.table.highWater + 1); // a slot below this is the next
    const labels = label === this.registry.plain ? undefined : this.labelsOf(lane, label);
    const first = this.clock.read() + repetition.first;
    const slot = this.schedule(lane, first, label, callback, argument);
    if (slot < 0) throw this.refusal(lane);
    lane.payload.setRepeating(slot);
    lane.grids.begin(slot, first, repetition);
    if (!repetition.overlap) this.repeating.mayPassOver = true;
    labels?.begin(slot, label);
    const id = lane.table.idOf(slot);
    if (callback === awaited) this.beginWait(argument, id, label);
    return id;
  }

  /** Last: code of the program may run, and end the timer. */
  private beginWait(waiter: unknown, id: TimerId, label: Label): void {
    if (!Waiter.is(waiter)) return;
    try {
      beginWait(waiter, this, id, label.ref);
    } catch (error) {
      waiter.leave(); // a refused call leaves nothing
      throw error;
    }
  }

  /** Moves a live timer. Returns false if the id is not live. Precondition: the deadline is finite. */
  reschedule(id: TimerId, deadline: number): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    if (lane.slotLabels === undefined && lane.grids === undefined)
      this.move(lane, slot, deadline, this.registry.plain.slack);
    else this.moveByKind(lane, slot, deadline);
    this.moved += 1;
    return true;
  }

  /** A scaled timer moves by its factor, a repeating one with its grid. A refused move changes nothing. */
  private moveByKind(lane: ClientLane, slot: number, deadline: number): void {
    const { slotLabels, grids } = lane;
    const label = this.labelOf(lane, slot);
    if (grids !== undefined && lane.payload.isRepeating(slot)) {
      this.move(lane, slot, deadline, label.slack);
      grids.restart(slot, deadline);
    } else if (slotLabels === undefined || label.min === undefined) {
      this.move(lane, slot, deadline, label.slack);
    } else {
      const earliest = this.clock.read() + label.min;
      this.move(lane, slot, label.deadlineOf(earliest, deadline), label.slack);
      slotLabels.setBounds(slot, earliest, deadline);
    }
  }

  /** Returns the labels of a lane, with all memory that a timer of this label needs. Throws AllocationError. */
  private labelsOf(lane: ClientLane, label: Label): SlotLabels {
    label.prepare(); // a delivery must not be refused memory
    lane.slotLabels ??= new SlotLabels(this.registry.byCode, lane.table.capacity, this.refs);
    lane.slotLabels.reserve(lane.table.highWater + 1); // a slot below this is the next
    return lane.slotLabels;
  }

  labelOf({ slotLabels }: ClientLane, slot: number): Label {
    return slotLabels === undefined ? this.registry.plain : slotLabels.labelOf(slot);
  }

  /** Cancels a live timer, and tells whoever waits for it. Returns false if the id is not live. */
  cancel(id: TimerId, how: Cancelling = 'cancelled'): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    const waiter = this.waiters === 0 ? undefined : lane.waiterOf(slot);
    this.end(lane, slot);
    if (waiter !== undefined) endWait(waiter, id, how);
    return true;
  }

  /** The context of this call, in which its timer's callback will run; undefined if there is none, or none is kept. */
  context(): Context {
    return this.keepsContexts === true ? currentContext() : undefined;
  }

  // The same by lane and slot, for the parts of the package that keep slots.

  /** Starts a timer, whose label the caller notes. Returns its slot; -1 where the lane is full. Throws as `start`. */
  schedule(lane: ClientLane, deadline: number, label: Label, callback: unknown, argument: unknown): number {
    const { slack } = label;
    const due = this.dueWordOf(deadline, slack);
    const context = this.keepsContexts === true && callback !== undefined ? currentContext() : undefined;
    const { table } = lane;
    if (!lane.stage.hasRoom(1)) lane.commands.makeRoom(1); // before any change: it may be refused
    const slot = table.allocate(deadline, due);
    if (slot < 0) return slot;
    lane.begin(slot, table.tagOf(slot), callback, argument, context);
    this.started += 1;
    if (deadline < this.time.stagedBy) this.turns.stagedEarlier(lane, deadline, slack);
    if (this.refs.keepsAlive === false && label.ref === true) this.refs.updateRef();
    return slot;
  }

  /** Returns the error for a call that finds a lane full, and reports the refusal: code of the program may run. */
  refusal({ shard, table }: ClientLane): CapacityExceededError {
    this.delivery.events.refused(shard, table.capacity, this.clock.read());
    return new CapacityExceededError(table.capacity, shard);
  }

  /** Moves a live timer; the slack in ticks. Throws InvalidDeadlineError. */
  move(lane: ClientLane, slot: number, deadline: number, slack: number): void {
    const due = this.dueWordOf(deadline, slack);
    const isStaged = lane.move(slot, deadline, due, deadline < this.time.wordReachEnd);
    if (isStaged && deadline < this.time.stagedBy) this.turns.stagedEarlier(lane, deadline, slack);
  }

  private end(lane: ClientLane, slot: number): void {
    lane.end(slot);
    if (this.turns.holdsPayload === false) this.turns.releaseLater();
    if (lane.table.size <= this.refs.unrefCount) this.refs.updateRef();
  }

  /** Stages a live timer again if its fired record arrived before it is due, since it was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void {
    if (this.time.tick === LAST_TICK) return; // it is due when the clock ends: nothing brings it any more
    // later than now, as computed by the move
    this.restageAt(lane, slot, lane.table.deadlineOf(slot), lane.table.dueOf(slot));
  }

  /**
   * Moves a live timer whose fired record has been taken, and stages it again. Precondition: a command was reserved.
   */
  restageAt(lane: ClientLane, slot: number, deadline: number, due: number): void {
    lane.restage(slot, deadline, due);
    if (deadline < this.time.stagedBy) this.turns.stagedEarlier(lane, deadline, this.labelOf(lane, slot).slack);
  }

  /** The due word of a deadline, with a slack in ticks. Throws InvalidDeadlineError. */
  dueWordOf(deadline: number, slack: number): number {
    const { time } = this;
    if (slack === 0 && deadline >= time.nextTickTime && deadline < time.fastPathEnd)
      return ceil(deadline * time.ticksPerMs) | 0;
    requireDeadline(deadline);
    return wordOf(time.dueTickOf(deadline, slack)) | 0; // V8: words
  }

  /** Returns the lane of a placement, and opens it if necessary. Throws AllocationError if it cannot be opened. */
  laneAt(placement: number): ClientLane {
    return this.lanesByPlacement[placement] ?? this.open(placement);
  }

  private open(placement: number): ClientLane {
    const lane = this.openLane(placement);
    lane.commands.onFull = this.turns.stageIsFull;
    this.lanesByPlacement[placement] = lane;
    this.lanes.push(lane);
    this.turns.noteWhere();
    return lane;
  }

  /** The lane that an id names. For anything but an id it may be any lane or none: the lane's table refuses it. */
  private laneOf(id: TimerId): ClientLane | undefined {
    return typeof id === 'number' ? this.lanesByPlacement[(id * this.laneScale) | 0] : undefined;
  }

  /** The shard to which a key is hashed. Throws InvalidArgumentError. */
  shardOf(hint: number | string): number {
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
    if (this.isClosed) return 0;
    let live = this.home.label.size;
    for (const lane of this.lanes) live += lane.table.size;
    return live;
  }

  /**
   * Names of the handles that keep the process alive for all timers, as `process.getActiveResourcesInfo` lists them.
   */
  heldResources(): string[] {
    return this.isClosed ? [] : [...this.turnClock.heldResources(), ...this.refs.heldResources()];
  }

  /** Starts so far; those of drop-in timers are counted by their label. */
  get scheduled(): number {
    return this.started + this.home.label.scheduled;
  }

  get rescheduled(): number {
    return this.moved + this.home.moved;
  }

  /** Timers cancelled so far: scheduled, and neither live nor delivered. */
  get cancelled(): number {
    const { delivered, repeated } = this.delivery;
    const ended = this.scheduled - (delivered - repeated) - this.home.size;
    return this.lanes.reduce((rest, lane) => rest - lane.table.size, ended);
  }

  /** See `ClientTurns`. */
  publish(): void {
    this.turns.publish();
  }

  /** Publishes all commands. Resolves when rings and indexes of this thread have taken the last of them. */
  async publishAll(): Promise<void> {
    this.publish();
    const isStaged = this.lanes.some(({ stage }) => stage.length > 0);
    if (isStaged) await this.quiescence.quiesce();
  }

  /** Ends turns and waiting; live timers stay in the tables. */
  close(): void {
    this.isClosed = true;
    this.turnClock.end();
    this.bell.stopListening();
    this.quiescence.end();
  }
}
