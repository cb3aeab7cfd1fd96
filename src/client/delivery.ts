import { runInContext } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { TimerId } from '../timer-id.ts';
import type { ClientLane, OverdueSink } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import { callLater, DELIVERED, type DeferredTimer } from './deferral.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import { LateTimers, watched } from './late-timers.ts';
import type { Nursery } from './nursery.ts';

/** The parts of the client that delivery needs. */
export interface DeliveryHost {
  readonly isClosed: boolean;
  readonly loop: { readonly phase: { readonly isOpen: boolean } };
  /** See ClientParts. */
  readonly firedUpTo: (lane: ClientLane) => number;
  /** Called when a fired record arrived before its timer is due, since the timer was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void;
}

/** Deliveries between two readings of the clock: callbacks take time, and lateness must be accurate. */
const CLOCK_INTERVAL = 64;

/** How long due young timers wait for earlier ones of their shard, in ms: the shard may have no processor. */
const PATIENCE = 4;

/**
 * How long one turn may deliver, in ms, so that other work of the event loop waits no longer, even before maxBatch is reached.
 */
const TURN_TIME = 1;

/**
 * Turns fired records into callbacks and batches. A record is a shard's claim that a timer is due; the table decides. The timer
 * must be live, the same that was fired, and its deadline must have come. A timer that was moved to the present while its record
 * was on its way waits for the next tick. A slot is freed before its callback runs, so the callback finds its timer ended.
 *
 * Within a shard all timers are handed over in the order of its records, with or without callback: a batch is closed when a timer
 * with a callback follows.
 *
 * Deferred timers are handed to themselves, see `deferral.ts`: those of the records, and staged ones that are due before a later
 * record, because the event loop was busy until now. A shard reads its clock before it takes commands. So when it fired a record,
 * it had fired all that it knew of earlier ticks; what it did not know yet was due later, or was never published. Beyond that,
 * such timers are taken up to the tick to which a shard in this thread has fired all that was published. So no timer overtakes
 * another.
 */
export class Delivery implements OverdueSink {
  /** Timers delivered so far. */
  delivered = 0;
  /** Records whose timer had been cancelled or moved meanwhile. */
  stale = 0;
  /** Delivered timers that no shard has fired. */
  young = 0;

  private readonly host: DeliveryHost;
  readonly events: DeliveryEvents;
  private readonly time: ClientTime;
  private readonly lateness: LatenessHistogram;
  private readonly maxBatch: number;
  /** The batch for 'fired' listeners: `length` entries. A listener may transfer these arrays, see `handOver`. */
  private ids: Float64Array;
  private deadlines: Float64Array;
  private args: unknown[] = [];
  private length = 0;
  private now = 0;
  /** The time at which the present tick began: deadlines up to it have come. */
  private tickTime = 0;
  private turnEnd = Number.POSITIVE_INFINITY;
  /** The deadline of the last record, in ms. */
  private lastDeadline = Number.NaN; // V8: double fields
  /** The watched lateness in ms: see `late-timers.ts`. */
  private lateAbove = Number.POSITIVE_INFINITY;
  /** The late timers of this turn, once there is one. */
  private late: LateTimers | undefined;
  /** The shard whose records are being delivered. */
  private shard = 0;

  constructor(
    host: DeliveryHost,
    events: DeliveryEvents,
    lateness: LatenessHistogram,
    time: ClientTime,
    maxBatch: number,
  ) {
    this.host = host;
    this.events = events;
    this.time = time;
    this.lateness = lateness;
    this.maxBatch = maxBatch;
    this.ids = new Float64Array(maxBatch);
    this.deadlines = new Float64Array(maxBatch);
  }

  /** Begins a turn of the event loop. With a manual clock it has no end but the limits given to `deliver`. */
  beginTurn(): void {
    const { clock } = this.time;
    this.lateAbove = watched.above;
    this.turnEnd = clock.memory.manual ? Number.POSITIVE_INFINITY : clock.refresh() + TURN_TIME;
  }

  /** Ends a turn, even one that an error of a tick cut short. */
  endTurn(): void {
    const { late } = this;
    if (late === undefined) return;
    this.late = undefined;
    for (const turn of late.all()) this.events.late(turn);
  }

  /**
   * Takes at most `limit` records of one lane, and stops soon after the turn's time is up; returns how many. Throws what a tick
   * throws, including an uncaught error of a callback: the next turn takes the remaining records.
   */
  deliver(lane: ClientLane, limit: number): number {
    const fired = lane.firedCount();
    const count = Math.min(fired, limit);
    let taken = 0;
    this.shard = lane.shard;
    this.lastDeadline = Number.NEGATIVE_INFINITY;
    if (count === 0) {
      if (limit > 0) this.takeOverdue(lane, -1, true);
      return 0;
    }
    try {
      while (taken < count && !this.host.isClosed) {
        this.readClock(); // after the records were counted, so not before the tick of any
        if (taken > 0 && this.now >= this.turnEnd) break;
        const end = Math.min(taken + CLOCK_INTERVAL, count);
        lane.prefetch(end - taken);
        for (; taken < end && !this.host.isClosed; taken++) {
          if (this.length > 0 && lane.isCallbackNext()) {
            this.handOver(lane.shard);
            runTicks?.(); // before the record is taken: an error must not lose a timer
            if (this.host.isClosed) break;
          }
          this.take(lane);
        }
      }
      if (this.length > 0) {
        this.handOver(lane.shard);
        runTicks?.();
      }
      this.takeOverdue(lane, this.time.scale.tickAtOrAfter(this.lastDeadline) - 1, taken === fired);
    } finally {
      if (this.length > 0) this.handOver(lane.shard);
      lane.releaseFired();
    }
    return taken;
  }

  private readClock(): void {
    this.now = this.time.read();
    this.tickTime = this.time.scale.timeOf(this.time.tick);
  }

  private take(lane: ClientLane): void {
    // Steps that may be refused come first: then the record stays.
    if (this.length === 0) this.renewArrays();
    lane.commands.reserve(1); // to stage the timer again
    const slot = lane.takeFired();
    if (slot < 0) {
      this.stale += 1;
      return;
    }
    const deadline = lane.table.deadlineOf(slot);
    // The last reading is some deliveries old; and a shard's clock may be some ns ahead of this thread's.
    if (deadline > this.tickTime) this.readClock();
    if (deadline > this.tickTime || lane.isPutOff(slot)) {
      this.stale += 1;
      this.host.restage(lane, slot);
      return;
    }
    const callback = lane.callbackOf(slot);
    this.lastDeadline = deadline;
    if (callback === callLater) {
      this.defer(lane, slot, deadline);
      return;
    }
    const id = lane.table.idOf(slot);
    const argument = lane.argumentOf(slot);
    const context = lane.contextOf(slot);
    if (lane.labels !== undefined) lane.labels.delivered(slot, this.now - deadline);
    lane.end(slot);
    this.count(this.now - deadline);
    if (this.now - deadline > this.lateAbove) this.noteLate(id, deadline, callback);
    if (callback === undefined) {
      this.ids[this.length] = id;
      this.deadlines[this.length] = deadline;
      if (argument !== undefined) this.args[this.length] = argument;
      this.length += 1;
      return;
    }
    try {
      runInContext(context, callback, argument, id);
    } catch (error) {
      this.events.failed(error, context);
    }
    runTicks?.();
  }

  /**
   * Takes the deferred timers that no shard has fired and that are due by a tick, from the nursery and from the stage. If all
   * records have been taken, also takes those due by the tick up to which there are no others.
   */
  private takeOverdue(lane: ClientLane, upTo: number, hasTakenAll: boolean): void {
    const { nursery, stage } = lane;
    const hasStaged = lane.hasDeferred && stage.length > 0;
    const since = nursery.waitingSince;
    nursery.waitingSince = Number.NaN;
    if ((!hasStaged && nursery.size === 0) || this.host.isClosed) return;
    this.readClock();
    const { time, tickTime } = this;
    const last = time.lastDeadlineDueBy(tickTime);
    if (!hasStaged && nursery.earliest > last) return;
    const tick = hasTakenAll ? Math.max(upTo, this.host.firedUpTo(lane)) : upTo;
    const by = time.lastDeadlineDueBy(Math.min(tickTime, time.scale.timeOf(tick)));
    if (hasStaged) lane.takeStaged(by, this);
    if (nursery.earliest <= last) this.takeYoung(nursery, by, last, since);
  }

  /**
   * `last`: the last deadline that is due now, in ms. `since`: when due timers were first found that have to wait, in ms; NaN if
   * there were none.
   */
  private takeYoung(nursery: Nursery, by: number, last: number, since: number): void {
    if (!this.host.loop.phase.isOpen) nursery.ripen();
    if (nursery.takeDue(by, this.takeDue) > last) return;
    const waitingSince = since <= this.now ? since : this.now;
    if (this.now - waitingSince < PATIENCE) nursery.waitingSince = waitingSince;
    else nursery.takeDue(last, this.takeDue);
  }

  private readonly takeDue = (timer: DeferredTimer, context: Context, deadline: number): void => {
    this.countDeferred(timer, deadline);
    this.young += 1;
    timer[DELIVERED](context, this.time.scale.tickAtOrAfter(deadline));
  };

  /** Takes a due deferred timer that was never sent to the shard. */
  overdue(lane: ClientLane, slot: number, deadline: number): void {
    this.defer(lane, slot, deadline);
  }

  private defer(lane: ClientLane, slot: number, deadline: number): void {
    const timer = lane.argumentOf(slot) as DeferredTimer;
    const context = lane.contextOf(slot);
    lane.end(slot);
    this.countDeferred(timer, deadline);
    timer[DELIVERED](context, this.time.scale.tickAtOrAfter(deadline));
  }

  /** Counts a timer that was delivered `lateness` ms after its deadline. */
  private count(lateness: number): void {
    this.lateness.record(lateness);
    this.delivered += 1;
  }

  private countDeferred(timer: DeferredTimer, deadline: number): void {
    const lateness = Math.max(0, this.now - deadline);
    this.count(lateness);
    if (lateness > this.lateAbove) this.noteLate(undefined, deadline, timer._onTimeout);
  }

  private noteLate(id: TimerId | undefined, deadline: number, callback: unknown): void {
    this.late ??= new LateTimers();
    this.late.note(id, deadline, this.now, this.shard, callback);
  }

  /**
   * Hands a batch to the listeners as a new object, so that their changes to it have no effect here. Precondition: the batch is
   * not empty.
   */
  private handOver(shard: number): void {
    const { args, deadlines, ids, length, now } = this;
    this.length = 0;
    this.args = []; // the listener owns the old array from now on
    this.events.emitBatch({ shard, now, length, ids, deadlines, args });
  }

  /** Replaces arrays that a listener has transferred, then or later. */
  private renewArrays(): void {
    const { maxBatch } = this;
    if (this.ids.length !== maxBatch) this.ids = new Float64Array(maxBatch);
    if (this.deadlines.length !== maxBatch) this.deadlines = new Float64Array(maxBatch);
  }
}
