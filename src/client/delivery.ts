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

/** What delivery needs of the client. */
export interface DeliveryHost {
  readonly isClosed: boolean;
  readonly loop: { readonly phase: { readonly isOpen: boolean } };
  /** See ClientParts. */
  readonly firedUpTo: (lane: ClientLane) => number;
  /** A fired record came before its timer is due, as it was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void;
}

/** Deliveries between two readings of the clock: callbacks take time, and lateness is to be told as it is. */
const CLOCK_INTERVAL = 64;

/** How long young timers that are due wait for what their shard is to fire before them, ms: it may have no processor. */
const PATIENCE = 4;

/** How long one turn may deliver, ms: whoever waits for the event loop waits no longer, even if maxBatch has not come. */
const TURN_TIME = 1;

/**
 * Turns fired records into callbacks and batches. A record is a shard's claim that a timer is due; the table has the
 * last word: the timer must be live, the very one that was fired, and its deadline must have come; and one that was moved
 * to the present while its record was on its way waits for the next tick. Its slot is freed before its callback runs, so
 * that whatever the callback does finds the timer ended.
 *
 * Within a shard all timers are handed over in the order of its records, those with and without callback alike: a batch
 * is closed when a timer with a callback follows.
 *
 * Deferred timers are handed to themselves, see `deferral.ts`: those of the records, and those that wait to be published and
 * would come after a record that they are due before, as the event loop was busy until now. A shard reads its clock before it
 * takes commands: so when it fired a record, all that it knew of earlier ticks had been fired, and what it did not know yet was due
 * later, or was never published. Beyond that such timers are taken up to the tick to which a shard in this thread has fired
 * all that was published. So none overtakes another.
 */
export class Delivery implements OverdueSink {
  /** Timers delivered so far. */
  delivered = 0;
  /** Records whose timer had been cancelled or moved meanwhile. */
  stale = 0;
  /** Of the delivered, those that no shard has fired. */
  young = 0;

  /** Ticks run between callbacks. Not where somebody's own call delivers, whose ticks are none of ours: see `warmUp`. */
  hasTicks = true;

  private readonly host: DeliveryHost;
  readonly events: DeliveryEvents;
  private readonly time: ClientTime;
  private readonly lateness: LatenessHistogram;
  private readonly maxBatch: number;
  /** What is gathered for 'fired' listeners: `length` entries. A listener may keep these from us, see `handOver`. */
  private ids: Float64Array;
  private deadlines: Float64Array;
  private args: unknown[] = [];
  private length = 0;
  private now = 0;
  /** When the present tick began, which is up to when deadlines have come. */
  private tickTime = 0;
  private turnEnd = Number.POSITIVE_INFINITY;
  /** Of the record taken last, ms. */
  private lastDeadline = Number.NaN; // V8: double fields
  /** Lateness that somebody is told of, ms: see `late-timers.ts`. */
  private lateAbove = Number.POSITIVE_INFINITY;
  /** Those of this turn, once there is one. */
  private late: LateTimers | undefined;
  /** That is delivered from now. */
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
    this.lateAbove = this.hasTicks ? watched.above : Number.POSITIVE_INFINITY; // nobody waits for what warms up
    this.turnEnd = clock.memory.manual ? Number.POSITIVE_INFINITY : clock.refresh() + TURN_TIME;
  }

  /** Ends a turn, also one before it that was cut short by what a tick threw. */
  endTurn(): void {
    const { late } = this;
    if (late === undefined) return;
    this.late = undefined;
    for (const turn of late.all()) this.events.late(turn);
  }

  /**
   * Takes at most `limit` records of one lane, and stops soon after the turn's time is up; returns how many. Throws what a
   * tick throws, an uncaught error of a callback among it: the records behind it are the next turn's.
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
        this.readClock(); // after the records were counted, so it is not before the tick of any
        if (taken > 0 && this.now >= this.turnEnd) break;
        const end = Math.min(taken + CLOCK_INTERVAL, count);
        lane.prefetch(end - taken);
        for (; taken < end && !this.host.isClosed; taken++) {
          if (this.length > 0 && lane.isCallbackNext()) {
            this.handOver(lane.shard);
            this.runTicks(); // before the record is taken: what it throws must not lose a timer
            if (this.host.isClosed) break;
          }
          this.take(lane);
        }
      }
      if (this.length > 0) {
        this.handOver(lane.shard);
        this.runTicks();
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
    // What may be refused comes first: then the record stays.
    if (this.length === 0) this.renewArrays();
    lane.commands.reserve(1); // to stage the timer again
    const slot = lane.takeFired();
    if (slot < 0) {
      this.stale += 1;
      return;
    }
    const deadline = lane.table.deadlineOf(slot);
    // Some deliveries ago the clock was read; and a shard's clock may be some ns ahead of this thread's.
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
    this.runTicks();
  }

  /**
   * Takes the deferred timers that no shard has fired, of the nursery and of those that wait to be published, which are due by
   * a tick; and, where all records have been taken, those due by the tick up to which there are no others.
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

  /** `last`: the last deadline that is due now, ms. `since`: when some were first found to have to wait, ms; NaN where that is new. */
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

  /** A deferred timer is due that was never sent to the shard. */
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

  /** A timer has been delivered, `lateness` ms after its deadline. */
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

  private runTicks(): void {
    if (this.hasTicks === true) runTicks?.();
  }

  /**
   * Hands a batch to the listeners: an object of its own, so that whatever they do to it ends with it. Precondition: the
   * batch is not empty.
   */
  private handOver(shard: number): void {
    const { args, deadlines, ids, length, now } = this;
    this.length = 0;
    this.args = []; // these are the listener's from here on, with all that they refer to
    this.events.emitBatch({ shard, now, length, ids, deadlines, args });
  }

  /** Replaces the arrays that a listener has transferred, then or later. */
  private renewArrays(): void {
    const { maxBatch } = this;
    if (this.ids.length !== maxBatch) this.ids = new Float64Array(maxBatch);
    if (this.deadlines.length !== maxBatch) this.deadlines = new Float64Array(maxBatch);
  }
}
